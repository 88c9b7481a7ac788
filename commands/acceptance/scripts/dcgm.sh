# DCGM's diagnostic of level 2, of all GPUs or of the one to test. It needs dcgmi; without a host engine it starts one.
if ! dcgmi discovery -l >/dev/null 2>&1; then
  nv-hostengine >/dev/null 2>&1
  sleep 5
fi
# DCGM has numbers of its own: the table of `dcgmi discovery -l` has the UUID in the rows below each.
if [ -n "$YARDMASTER_GPU" ]; then
  number=$(dcgmi discovery -l 2>&1 | awk -F'|' -v uuid="$YARDMASTER_GPU" '
    $2 ~ /^ *[0-9]+ *$/ { number = $2 + 0 }
    index($3, "UUID: " uuid) { print number; exit }')
  if [ -z "$number" ]; then
    printf '{"DCGM Diagnostic": {"runtime_error": "it does not see GPU %s"}}\n' "$YARDMASTER_GPU"
    exit 0
  fi
  set -- -i "$number"
fi
# Short lines, as a log keeps only so much of a long one.
dcgmi diag -r 2 -j "$@" 2>&1 | tr -s ' \t\n' ' ' | fold -s -w 2000
echo
exit 0
