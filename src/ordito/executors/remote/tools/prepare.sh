# sh -s: makes a host ready, or says why it is not. Told by variables: ordito_base (the folder of all ensembles),
# ordito_place (that of this one), ordito_job (with this run's own ending), ordito_tools.
#
# Where others may take the ensemble over, ordito_epoch and ordito_worker are set, and epochs.sh is read before.
#
#     ordito host BASE BOOT NAME TOOLS PACKS     TOOLS: 1 if the tools are there; PACKS: 1 if there is tar
#     ordito open PID START LEADS IDENTITY SLOT  for each operation of another job that began and has not ended

umask 077
mkdir -p "$ordito_place/jobs" "$ordito_place/trees" || exit 3
# A full disk often lets files be made, and nothing be written into them.
printf '%s\n' "$ordito_job" >"$ordito_place/jobs/probe" || exit 3
rm -f "$ordito_place/jobs/probe"
[ -z "${ordito_epoch-}" ] || ordito_enter "$ordito_place" || exit $?
boot= name=
{ read -r boot </proc/sys/kernel/random/boot_id; } 2>/dev/null || boot=unknown
{ read -r name </proc/sys/kernel/hostname; } 2>/dev/null || name=$(uname -n)
tools=0 packs=0
[ ! -f "$ordito_place/$ordito_tools/operation.sh" ] || tools=1
if command -v tar >/dev/null 2>&1; then packs=1; fi
printf 'ordito host %s\nordito about %s %s %s %s\n' "$ordito_place" "$boot" "$tools" "$packs" "$name"
for log in "$ordito_place"/jobs/*/*/log; do
    case $log in "$ordito_place/jobs/${ordito_job%.*}".*) continue ;; esac
    [ -f "$log" ] || continue
    # A shell runs one after the other: only the last can be at work.
    last=$(tail -n 1 "$log")
    case $last in 'B '*) ;; *) continue ;; esac
    set -- $last
    printf 'ordito open %s %s %s %s %s\n' "$3" "$4" "${5:-none}" "$2" "${log%/log}"
done
exit 0
