/**
 * Every command, in the order of the help. Only the called command is loaded.
 *
 * @module
 */

import {
  type Command,
  type CommandEntry,
  loadCommand,
  type LoadedCommand,
} from "./command_line/command.ts";
import {
  createServerIo,
  type ServerProgram,
  serveUntilStopped,
  startProgram,
} from "@sig/api/program";
import { writeResult } from "./output/write.ts";

/** Returns the command that runs a server until it is interrupted. */
function serverCommand(
  name: string,
  program: ServerProgram,
): LoadedCommand {
  return {
    flags: program.flags,
    examples: program.examples.map((line) =>
      line.replace(program.name, `sig ${name}`)
    ),
    endless: true,
    async run(call) {
      const io = { ...createServerIo(), ...call.io };
      const startup = await startProgram(program, call, io);
      return await serveUntilStopped(startup, io, (url) => {
        writeResult(call, { url }, `${url}\n`);
      });
    },
  };
}

type Joined<N extends string, Sign extends string> = N extends
  `${infer First}${Sign}${infer Rest}`
  ? `${First}${Capitalize<Joined<Rest, Sign>>}`
  : N;

/** The export of a command's module: `rotateKey` for `rotate-key`. */
type ExportOf<N extends string> = Joined<Joined<N, " ">, "-">;

/** Returns the entries of a module's commands: name and summary. */
function from<N extends string>(
  load: () => Promise<{ readonly [E in ExportOf<NoInfer<N>>]: LoadedCommand }>,
  commands: { readonly [E in N]: string },
): readonly CommandEntry[] {
  return (Object.entries(commands) as [N, string][]).map(([name, summary]) => {
    const exported = name.replaceAll(
      /[ -](.)/g,
      (_, letter: string) => letter.toUpperCase(),
    ) as ExportOf<N>;
    return { name, summary, load: async () => (await load())[exported] };
  });
}

/**
 * The table of commands, from which dispatch, help and completion are derived.
 */
export const COMMANDS: readonly CommandEntry[] = [
  ...from(() => import("./commands/init.ts"), {
    init: "create an issuer",
  }),
  ...from(() => import("./commands/upsert.ts"), {
    upsert: "add or replace a relationship",
  }),
  ...from(() => import("./commands/revoke.ts"), {
    revoke: "end a relationship",
    undo: "restore a relationship as it was before its last event",
  }),
  ...from(() => import("./commands/plan.ts"), {
    plan: "compare a list of people with the feed",
    apply: "change the feed to match a list of people",
  }),
  ...from(() => import("./commands/set.ts"), {
    set: "change some fields of a relationship",
  }),
  ...from(() => import("./commands/offboard.ts"), {
    offboard: "end all relationships of a person",
  }),
  ...from(() => import("./commands/import.ts"), {
    import: "append many events, all or nothing",
  }),
  ...from(() => import("./commands/backup.ts"), {
    backup: "write all data of an issuer to one file",
    restore: "restore a backup, or a feed from its published copy",
  }),
  ...from(() => import("./commands/rotate_key.ts"), {
    "rotate-key": "add a new key and sign with it from now on",
  }),
  ...from(() => import("./commands/recovery.ts"), {
    "recovery create": "make a recovery key and publish its digest",
    recover: "end a stolen or lost signing key",
  }),
  ...from(() => import("./commands/checkpoint.ts"), {
    checkpoint: "publish or update proofs",
  }),
  ...from(() => import("./commands/verify.ts"), {
    verify: "verify every signature and rule of an issuer's feed",
  }),
  ...from(() => import("./commands/relationships.ts"), {
    "dump-state": "print the state of every relationship",
  }),
  ...from(() => import("./commands/check.ts"), {
    check: "decide whether a subject meets requirements",
  }),
  ...from(() => import("./commands/ssh_keys.ts"), {
    "ssh-keys": "print the SSH keys that may log in, for sshd",
    "allowed-signers": "print an allowed_signers file, for git and ssh-keygen",
  }),
  ...from(() => import("./commands/log.ts"), {
    log: "print the events of a feed, one per line",
  }),
  ...from(() => import("./commands/watch.ts"), {
    watch: "follow a feed and pass on each new event",
  }),
  ...from(() => import("./commands/serve.ts"), {
    serve: "serve an issuer's directory, for tests or behind a proxy",
  }),
  ...from(() => import("./commands/key.ts"), {
    "key generate": "create a private key",
    "key public": "print the public part of a key",
    "key did": "print the did:key of a key",
    "key ssh": "print a key as an OpenSSH public key",
  }),
  ...from(() => import("./commands/attest.ts"), {
    attest: "answer a login challenge with your key",
  }),
  ...from(() => import("./commands/invite.ts"), {
    invite: "invite a person to join with their own key",
  }),
  ...from(() => import("./commands/accept.ts"), {
    accept: "answer an invitation with your own key",
  }),
  ...from(() => import("./commands/enrol.ts"), {
    enrol: "publish the relationship of an answered invitation",
  }),
  {
    name: "api",
    summary: "start the verification server (sig-api)",
    load: async () => {
      const { apiProgram } = await import("@sig/api/internal/sig-api");
      return serverCommand("api", apiProgram);
    },
  },
  {
    name: "web",
    summary: "start the login server (sig-web)",
    load: async () => {
      const { webProgram } = await import("@sig/web/sig-web");
      return serverCommand("web", webProgram);
    },
  },
  ...from(() => import("./commands/web_client.ts"), {
    "web client add": "add an application to the login server's file",
    "web client list": "list the applications of the login server's file",
    "web client set": "change an application of the login server's file",
    "web client remove": "remove an application from the login server's file",
    "web client rotate-secret":
      "give an application of the login server a new secret",
  }),
  ...from(() => import("./commands/shell.ts"), {
    completions: "print a completion script for your shell",
  }),
  ...from(() => import("./commands/relationships.ts"), {
    who: "list active relationships and when they end",
    expiring: "list relationships that expire soon",
  }),
  ...from(() => import("./commands/diff.ts"), {
    diff: "compare two sources, or one source at two moments",
  }),
  ...from(() => import("./commands/audit.ts"), {
    audit: "report gained and lost access, with its time and key",
  }),
  ...from(() => import("./commands/test.ts"), {
    test: "run decision test cases",
  }),
  ...from(() => import("./commands/doctor.ts"), {
    doctor: "diagnose an issuer",
  }),
  ...from(() => import("./commands/cosign.ts"), {
    cosign: "replay a feed and cosign its checkpoint",
  }),
  ...from(() => import("./commands/evidence.ts"), {
    "evidence make": "write an answer and its proof to a file",
    "evidence verify": "verify an evidence file",
  }),
  ...from(() => import("./commands/pin.ts"), {
    "pin list": "list what is remembered of issuers",
    "pin show": "show what is remembered of an issuer",
    "pin ack": "accept what an issuer serves now",
    "pin remove": "forget an issuer",
  }),
  ...from(() => import("./commands/export.ts"), {
    export: "print a web server's configuration, to publish or to protect",
  }),
];

/** Loads every command, for the reference. */
export function loadCommands(): Promise<readonly Command[]> {
  return Promise.all(COMMANDS.map(loadCommand));
}

/**
 * Finds the command with the longest name that the words begin with. Returns it
 * with the remaining words.
 */
export function findCommand(words: readonly string[]) {
  for (const count of [3, 2, 1]) {
    const name = words.slice(0, count).join(" ");
    const entry = COMMANDS.find((entry) => entry.name === name);
    if (entry !== undefined) return { entry, words: words.slice(count) };
    // For example `web client`, which is not an argument of `web`.
    if (commandsBelow(name).length > 0) return undefined;
  }
  return undefined;
}

/** Returns the subcommands of a name: `pin list`, … for `pin`. */
export function commandsBelow(name: string): readonly CommandEntry[] {
  return COMMANDS.filter((entry) => entry.name.startsWith(`${name} `));
}
