# The device files that CUDA needs. It needs nothing but a shell.
echo "yardmaster/1 version kernel $(uname -r)"
dev="${YARDMASTER_DEV:-/dev}"
found=0
for file in "$dev"/nvidia[0-9]*; do
  [ -e "$file" ] && found=$((found + 1))
done
if [ "$found" -lt "$YARDMASTER_GPUS" ]; then
  echo "yardmaster/1 device-files fail next=configure -- $found of $YARDMASTER_GPUS files /dev/nvidiaN are there"
else
  echo "yardmaster/1 device-files pass"
fi
for name in nvidiactl nvidia-uvm; do
  if [ -e "$dev/$name" ]; then
    echo "yardmaster/1 $name pass"
  else
    echo "yardmaster/1 $name fail next=configure -- /dev/$name is missing: node repair with nvidia-uvm makes it"
  fi
done
echo "yardmaster/1 end"
