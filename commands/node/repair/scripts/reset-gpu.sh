# Resets the GPU with the index GPU_INDEX, unless a process has it open.
set -u
say() { printf '%s\n' "$*"; }
fail() { say "$*"; exit 1; }
case "${GPU_INDEX:-}" in
  '' | *[!0-9]*) fail "no GPU was named" ;;
esac
uuid="$(nvidia-smi -i "$GPU_INDEX" --query-gpu=uuid --format=csv,noheader)" || fail "nvidia-smi does not see GPU $GPU_INDEX: it may have fallen off the bus, and then only a reboot helps"
busy="$(nvidia-smi -i "$GPU_INDEX" --query-compute-apps=pid,process_name --format=csv,noheader)" || fail "nvidia-smi could not list the processes of GPU $GPU_INDEX"
if [ -n "$busy" ]; then
  say "processes have GPU $GPU_INDEX open, and it was not reset:"
  say "$busy"
  exit 1
fi
say "resetting GPU $GPU_INDEX ($uuid)"
nvidia-smi --gpu-reset -i "$GPU_INDEX" || fail "nvidia-smi could not reset GPU $GPU_INDEX"
again="$(nvidia-smi -i "$GPU_INDEX" --query-gpu=uuid --format=csv,noheader)" || fail "GPU $GPU_INDEX did not come back after its reset"
[ "$again" = "$uuid" ] || fail "another GPU has the index $GPU_INDEX after the reset"
say "GPU $GPU_INDEX was reset and answers again"
