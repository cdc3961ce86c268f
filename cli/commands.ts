/**
 * Every command, in the order of the help. Only the one that is called is
 * loaded.
 *
 * @module
 */

import {
  type Command,
  type CommandEntry,
  loadCommand,
} from "./command_line/command.ts";
import { serverCommand } from "./command_line/server_command.ts";

/** The table that dispatch, help and completion come from. */
export const COMMANDS: readonly CommandEntry[] = [
  {
    name: "init",
    summary: "create an issuer",
    load: () => import("./commands/init.ts").then((m) => m.init),
  },
  {
    name: "upsert",
    summary: "add or replace a relationship",
    load: () => import("./commands/upsert.ts").then((m) => m.upsert),
  },
  {
    name: "revoke",
    summary: "end a relationship",
    load: () => import("./commands/revoke.ts").then((m) => m.revoke),
  },
  {
    name: "plan",
    summary: "compare a list of people with the feed",
    load: () => import("./commands/plan.ts").then((m) => m.plan),
  },
  {
    name: "apply",
    summary: "change the feed to match a list of people",
    load: () => import("./commands/plan.ts").then((m) => m.apply),
  },
  {
    name: "set",
    summary: "change some fields of a relationship",
    load: () => import("./commands/set.ts").then((m) => m.set),
  },
  {
    name: "offboard",
    summary: "end all relationships of a person",
    load: () => import("./commands/offboard.ts").then((m) => m.offboard),
  },
  {
    name: "import",
    summary: "append many events, all or nothing",
    load: () => import("./commands/import.ts").then((m) => m.importDrafts),
  },
  {
    name: "restore",
    summary: "bring a feed up to its published copy",
    load: () => import("./commands/restore.ts").then((m) => m.restore),
  },
  {
    name: "rotate-key",
    summary: "add a new key and sign with it from now on",
    load: () => import("./commands/rotate_key.ts").then((m) => m.rotateKey),
  },
  {
    name: "checkpoint",
    summary: "publish proofs, or bring them up to the feed",
    load: () => import("./commands/checkpoint.ts").then((m) => m.checkpoint),
  },
  {
    name: "verify",
    summary: "verify every signature and rule of an issuer's feed",
    load: () => import("./commands/verify.ts").then((m) => m.verify),
  },
  {
    name: "dump-state",
    summary: "print the state of every relationship",
    load: () => import("./commands/dump_state.ts").then((m) => m.dumpState),
  },
  {
    name: "check",
    aliases: ["allow"],
    summary: "decide whether a subject meets requirements",
    load: () => import("./commands/check.ts").then((m) => m.check),
  },
  {
    name: "log",
    summary: "print the events of a feed, one per line",
    load: () => import("./commands/log.ts").then((m) => m.log),
  },
  {
    name: "watch",
    summary: "follow a feed and pass on each new event",
    load: () => import("./commands/watch.ts").then((m) => m.watch),
  },
  {
    name: "serve",
    summary: "serve an issuer's directory, for tests or behind a proxy",
    load: () => import("./commands/serve.ts").then((m) => m.serve),
  },
  {
    name: "key generate",
    summary: "create a private key",
    load: () => import("./commands/key.ts").then((m) => m.keyGenerate),
  },
  {
    name: "key public",
    summary: "print the public part of a key",
    load: () => import("./commands/key.ts").then((m) => m.keyPublic),
  },
  {
    name: "key did",
    summary: "print the did:key of a key",
    load: () => import("./commands/key.ts").then((m) => m.keyDid),
  },
  {
    name: "attest",
    summary: "answer a login challenge with your key",
    load: () => import("./commands/attest.ts").then((m) => m.attest),
  },
  {
    name: "invite",
    summary: "invite a person to join with their own key",
    load: () => import("./commands/invite.ts").then((m) => m.invite),
  },
  {
    name: "accept",
    summary: "answer an invitation with your own key",
    load: () => import("./commands/accept.ts").then((m) => m.accept),
  },
  {
    name: "enrol",
    summary: "publish the relationship of an answered invitation",
    load: () => import("./commands/enrol.ts").then((m) => m.enrol),
  },
  {
    name: "api",
    summary: "start the verification server (sig-api)",
    load: () =>
      import("@sig/api/program").then((m) =>
        serverCommand("api", m.apiProgram)
      ),
  },
  {
    name: "web",
    summary: "start the login server (sig-web)",
    load: () =>
      import("@sig/web/program").then((m) =>
        serverCommand("web", m.webProgram)
      ),
  },
  {
    name: "web client add",
    summary: "add an application to the login server's file",
    load: () => import("./commands/web_client.ts").then((m) => m.webClientAdd),
  },
  {
    name: "completions",
    summary: "print a completion script for your shell",
    load: () => import("./commands/completions.ts").then((m) => m.completions),
  },
  {
    name: "man",
    summary: "print the manual page",
    load: () =>
      import("./commands/man.ts").then(({ createMan }) =>
        createMan(loadCommands)
      ),
  },
  {
    name: "who",
    summary: "list active relationships and when they end",
    load: () => import("./commands/who.ts").then((m) => m.who),
  },
  {
    name: "expiring",
    summary: "list relationships that expire soon",
    load: () => import("./commands/who.ts").then((m) => m.expiring),
  },
  {
    name: "diff",
    summary: "compare two sources, or one source at two moments",
    load: () => import("./commands/diff.ts").then((m) => m.diff),
  },
  {
    name: "audit",
    summary: "report who gained or lost what, when, and by which key",
    load: () => import("./commands/audit.ts").then((m) => m.audit),
  },
  {
    name: "test",
    summary: "run decision test cases",
    load: () => import("./commands/test.ts").then((m) => m.test),
  },
  {
    name: "doctor",
    summary: "diagnose an issuer",
    load: () => import("./commands/doctor.ts").then((m) => m.doctor),
  },
  {
    name: "pin list",
    summary: "list what is remembered of issuers",
    load: () => import("./commands/pin.ts").then((m) => m.pinList),
  },
  {
    name: "pin show",
    summary: "show what is remembered of an issuer",
    load: () => import("./commands/pin.ts").then((m) => m.pinShow),
  },
  {
    name: "pin ack",
    summary: "accept what an issuer serves now",
    load: () => import("./commands/pin.ts").then((m) => m.pinAck),
  },
  {
    name: "pin remove",
    summary: "forget an issuer",
    load: () => import("./commands/pin.ts").then((m) => m.pinRemove),
  },
  {
    name: "export",
    summary: "print a web server's configuration, to publish or to protect",
    load: () => import("./commands/export.ts").then((m) => m.exportSite),
  },
];

/** All of them, for what is about all: the manual page, the reference. */
export function loadCommands(): Promise<readonly Command[]> {
  return Promise.all(COMMANDS.map(loadCommand));
}

/** A command that words begin with. */
export interface FoundCommand {
  readonly entry: CommandEntry;
  /** The name it was called by: its own, or an alias. */
  readonly name: string;
  /** The words behind its name. */
  readonly words: readonly string[];
}

/** The command with the longest name that the words begin with. */
export function findCommand(
  words: readonly string[],
): FoundCommand | undefined {
  for (const count of [3, 2, 1]) {
    const name = words.slice(0, count).join(" ");
    const entry = COMMANDS.find((entry) =>
      entry.name === name || entry.aliases?.includes(name)
    );
    if (entry !== undefined) return { entry, name, words: words.slice(count) };
    // Such as `web client`, which is not the server's.
    if (commandsBelow(name).length > 0) return undefined;
  }
  return undefined;
}

/** The commands whose names go on behind that: `pin list`, … below `pin`. */
export function commandsBelow(name: string): readonly CommandEntry[] {
  return COMMANDS.filter((entry) => entry.name.startsWith(`${name} `));
}
