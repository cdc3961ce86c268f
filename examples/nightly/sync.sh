#!/bin/sh
# Updates an issuer from an export of a personnel system, each night.
#
#   sync.sh DIR EXPORT.csv KEYS.csv
#
# DIR.nightly contains the list and the plan of the last run. CONFIG is the deno.json
# of convert.ts. PUBLISH is a command that publishes DIR, for example with rsync.
# Exit codes: 0 done, or nothing to do; 2 an error; 78 a person must decide.
set -u
umask 077
dir=$1 export=$2 keys=$3
here=$(dirname "$0") work=$dir.nightly
mkdir -p "$work"

with_list() {
  command=$1
  shift
  sig "$command" --dir "$dir" --from "$work/list.json" --scope type=employee --prune "$@"
}

# Copied, because the personnel system may rewrite its file during the run.
npx -y deno@2.9.6 run --allow-read --config "${CONFIG:-$here/deno.json}" \
  "$here/convert.ts" "$export" "$keys" > "$work/list.json" || exit 2

with_list plan > "$work/plan.txt"
case $? in
  0) echo "nightly: nothing to do"; exit 0 ;;
  1) cat "$work/plan.txt" ;;
  *) exit 2 ;;
esac

if ! with_list apply --yes --reason-code employment_ended --format json > "$work/applied.json" 2> "$work/error.json"; then
  cat "$work/error.json" >&2
  grep -q '"code":"confirmation_required"' "$work/error.json" || exit 2
  echo "nightly: stopped, nothing was written; see $work/plan.txt" >&2
  exit 78
fi
echo "nightly: applied"
${PUBLISH:-true} "$dir"
