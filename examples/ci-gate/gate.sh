#!/bin/sh
# Runs a command if the issuer allows the subject to deploy.
#
#   gate.sh SOURCE SUBJECT COMMAND [ARGUMENT...]
#
# ALLOW_INSECURE=1 allows an issuer on this machine, over http.
# Exit codes: the command's own; 77 denied; 75 no answer, try again later.
set -u
source=$1 subject=$2
shift 2

tries=3
while :; do
  sig check --sig "$source" --subject "$subject" --format text \
    ${ALLOW_INSECURE:+--allow-insecure} \
    --require relationship=employee --require role=deploy
  case $? in
    0) exec "$@" ;;
    1) echo "gate: denied" >&2; exit 77 ;;
  esac
  # 2: there was no answer, which is neither an allow nor a deny.
  tries=$((tries - 1))
  [ "$tries" -gt 0 ] || { echo "gate: no answer" >&2; exit 75; }
  sleep "${GATE_PAUSE_SECONDS:-5}"
done
