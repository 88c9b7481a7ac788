# Restarts $unit by systemd, waits until it is active again, and looks once more: what fails late has not worked.
set -u
say() { printf '%s\n' "$*"; }
systemctl cat "$unit" >/dev/null 2>&1 || { say "$unit is not a unit of systemd here"; exit 1; }
say "$unit was $(systemctl is-active "$unit")"
systemctl restart "$unit" || { say "systemctl could not restart $unit"; systemctl --no-pager --lines=10 status "$unit"; exit 1; }
tries=0
until [ "$(systemctl is-active "$unit")" = active ]; do
  tries=$((tries + 1))
  [ "$tries" -lt 30 ] || { say "$unit is not active after 60 s"; systemctl --no-pager --lines=10 status "$unit"; exit 1; }
  sleep 2
done
sleep 10
[ "$(systemctl is-active "$unit")" = active ] || {
  say "$unit was active, and 10 s later is not"
  systemctl --no-pager --lines=10 status "$unit"
  exit 1
}
say "$unit is active again"
