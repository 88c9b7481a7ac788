# Deletes the images that no container uses. Those in use stay.
set -u
say() { printf '%s\n' "$*"; }
command -v crictl >/dev/null 2>&1 || { say "crictl is not installed on this node"; exit 1; }
say "before: $(crictl images -q | sort -u | wc -l) images"
crictl rmi --prune || { say "crictl could not delete the images"; exit 1; }
say "after: $(crictl images -q | sort -u | wc -l) images"
