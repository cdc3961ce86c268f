/** Every command, in the order of the help. @module */

import type { Command } from "./command_line/command.ts";
import { accept } from "./commands/accept.ts";
import { api } from "./commands/api.ts";
import { attest } from "./commands/attest.ts";
import { check } from "./commands/check.ts";
import { createCompletions } from "./commands/completions.ts";
import { dumpState } from "./commands/dump_state.ts";
import { importDrafts } from "./commands/import.ts";
import { init } from "./commands/init.ts";
import { invite } from "./commands/invite.ts";
import { key } from "./commands/key.ts";
import { log } from "./commands/log.ts";
import { createMan } from "./commands/man.ts";
import { offboard } from "./commands/offboard.ts";
import { pin } from "./commands/pin.ts";
import { apply, plan } from "./commands/plan.ts";
import { restore } from "./commands/restore.ts";
import { revoke } from "./commands/revoke.ts";
import { rotateKey } from "./commands/rotate_key.ts";
import { serve } from "./commands/serve.ts";
import { set } from "./commands/set.ts";
import { upsert } from "./commands/upsert.ts";
import { verify } from "./commands/verify.ts";
import { watch } from "./commands/watch.ts";
import { web } from "./commands/web.ts";
import { VERSION } from "./terminal/version.ts";
import { audit } from "./commands/audit.ts";
import { diff } from "./commands/diff.ts";
import { doctor } from "./commands/doctor.ts";
import { exportSite } from "./commands/export.ts";
import { enrol } from "./commands/enrol.ts";

import { test } from "./commands/test.ts";
import { expiring, who } from "./commands/who.ts";

/** The table that parsing, help and completions come from. */
export const COMMANDS: readonly Command[] = [
  init,
  upsert,
  revoke,
  plan,
  apply,
  set,
  offboard,
  importDrafts,
  restore,
  rotateKey,
  verify,
  dumpState,
  check,
  log,
  watch,
  serve,
  key,
  attest,
  invite,
  accept,
  enrol,
  api,
  web,
  createCompletions(() => COMMANDS),
  createMan(() => COMMANDS, VERSION),
  who,
  expiring,
  diff,
  audit,
  test,
  doctor,
  pin,
  exportSite,
];
