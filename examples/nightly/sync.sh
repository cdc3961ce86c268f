#!/bin/sh
# Updates an issuer from an export of a personnel system, each night.
#
#   sync.sh DIR EXPORT.csv
#
# Prints a mail for the operator if something changed or a person must act, else
# nothing. DIR.nightly contains the list, the plan and the error of the last run.
# CONFIG is the deno.json of convert.ts. PUBLISH is a command that publishes DIR,
# for example with rsync.
# Exit codes: 0 done, or nothing to do; 2 an error; 78 a person must decide.
set -u
umask 077
dir=$1 export=$2
here=$(dirname "$0") work=$dir.nightly
mkdir -p "$work"
list="--from $work/list.json --scope type=employee --prune --reason-code employment_ended"

failed() {
  echo "The nightly update of $dir failed; nothing was written:"
  cat "$work/error.txt"
  echo "The next run tries again. Until then no change of the list is applied."
  exit 2
}

# Copied, because the personnel system may rewrite its file during the run.
npx -y deno@2.9.6 run --allow-read --config "${CONFIG:-$here/deno.json}" \
  "$here/convert.ts" "$export" > "$work/list.json" 2> "$work/error.txt" || failed

sig plan --dir "$dir" $list > "$work/plan.txt" 2> "$work/error.txt"
case $? in
  0) exit 0 ;;
  1) ;;
  *) failed ;;
esac

if sig apply --dir "$dir" $list --yes > "$work/applied.txt" 2> "$work/error.txt"; then
  cat "$work/plan.txt"
  tail -n 1 "$work/applied.txt"
  ${PUBLISH:-true} "$dir"
  exit
fi
grep -q confirmation_required "$work/error.txt" || failed

confirm=$(sed -n 's/^  hint: .* add \(--.*\)\.$/\1/p' "$work/error.txt")
cat << END
A person must decide about the nightly update of $dir. Nothing was written:
$(cat "$work/error.txt")

1. Read the plan: $work/plan.txt
2. If the export is wrong, correct it; the next run uses a new one.
3. If the plan is right, confirm exactly this, as the user who owns the keys:
   sig apply --dir $dir $list --yes $confirm
   ${PUBLISH:-publish} $dir

Until then no other change of the list is applied. A person who must lose access
at once:
   sig offboard --dir $dir --subject NUMBER --reason-code employment_ended
END
exit 78
