# A file is written to the disk of containers and read again. It needs dd and date of GNU coreutils.
file="${YARDMASTER_SCRATCH:-/var/tmp}/yardmaster-disk-test"
blocks="${YARDMASTER_BLOCKS:-128}" # of 16 MiB
now() { echo $(($(date +%s%N) / 1000000)); }
began=$(now)
if dd if=/dev/zero of="$file" bs=16M count="$blocks" conv=fsync 2>/dev/null; then
  took=$(($(now) - began + 1))
  echo "yardmaster/1 disk-write pass $((blocks * 16777 / took)) MB/s"
else
  echo "yardmaster/1 disk-write fail -- $((blocks * 16)) MiB could not be written"
fi
if cmp -n $((blocks * 16777216)) "$file" /dev/zero 2>/dev/null; then
  echo "yardmaster/1 disk-read pass"
else
  echo "yardmaster/1 disk-read fail -- what was written was not read again"
fi
rm -f "$file"
echo "yardmaster/1 end"
