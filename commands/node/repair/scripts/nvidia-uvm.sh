# Loads nvidia-uvm and makes its device files with the major number that the kernel gave it.
# YARDMASTER_ROOT is empty on a node; tests run the script in a folder.
set -u
root="${YARDMASTER_ROOT:-}"
say() { printf '%s\n' "$*"; }
fail() { say "$*"; exit 1; }

if ! grep -q '^nvidia ' "$root/proc/modules"; then
  fail "the driver itself is not loaded: its kernel module nvidia is missing, so loading nvidia-uvm cannot help"
fi
if grep -q '^nvidia_uvm ' "$root/proc/modules"; then
  say "nvidia-uvm is loaded already"
else
  modprobe nvidia-uvm || fail "modprobe could not load nvidia-uvm: after an upgrade of the kernel the driver must be built again"
  say "loaded nvidia-uvm"
fi
major="$(awk '$2 == "nvidia-uvm" { print $1; exit }' "$root/proc/devices")"
case "$major" in
  '' | *[!0-9]*) fail "/proc/devices has no nvidia-uvm" ;;
esac
minor=0
for name in nvidia-uvm nvidia-uvm-tools; do
  file="$root/dev/$name"
  if [ -e "$file" ] && [ "$(stat -c '%t' "$file")" != "$(printf '%x' "$major")" ]; then
    rm -f "$file"
    say "removed /dev/$name, which had another major number"
  fi
  if [ -e "$file" ]; then
    say "/dev/$name is there"
  else
    mknod -m 666 "$file" c "$major" "$minor" || fail "mknod could not make /dev/$name"
    say "made /dev/$name ($major, $minor)"
  fi
  ( : < "$file" ) 2>/dev/null || fail "/dev/$name is there, but does not open: the driver does not answer"
  minor=$((minor + 1))
done
say "nvidia-uvm works: new GPU pods can start"
