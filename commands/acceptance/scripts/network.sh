# DNS, and connections to a neighbour's kubelet. It needs getent, timeout and bash.
now() { echo $(($(date +%s%N) / 1000000)); }
name="${YARDMASTER_NAME:-kubernetes.default.svc}"
began=$(now)
if timeout 10 getent hosts "$name" >/dev/null; then
  echo "yardmaster/1 dns pass $(($(now) - began)) ms"
else
  echo "yardmaster/1 dns fail next=configure -- $name is not resolved"
fi
if [ -z "$YARDMASTER_NEIGHBOUR" ]; then
  echo "yardmaster/1 network skip -- no other node is known"
  echo "yardmaster/1 end"
  exit 0
fi
lost=0
for try in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
  timeout 2 bash -c 'exec 3<>"/dev/tcp/$YARDMASTER_NEIGHBOUR/${YARDMASTER_PORT:-10250}"' 2>/dev/null ||
    lost=$((lost + 1))
done
if [ "$lost" -eq 0 ]; then
  echo "yardmaster/1 network pass"
else
  echo "yardmaster/1 network fail -- $lost of 20 connections to the neighbour failed"
fi
echo "yardmaster/1 end"
