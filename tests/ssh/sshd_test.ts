/** Tests `sig ssh-keys` with a real sshd and a real ssh. */

import { assertEquals, assertStringIncludes } from "@std/assert";
import {
  makeKey,
  startSshd,
  type TestSshd,
  withOpenSsh,
} from "../kit/open_ssh.ts";
import {
  denoDir,
  freePort,
  runWell,
  startServer,
  tempFolder,
} from "../kit/process.ts";
import { programArgs } from "../kit/programs.ts";

// promise: While the issuer is down SSH logins are refused, except within
//   `--max-age`.

/** Runs `sig` as a process, with key store and pin store in a folder. */
function sigIn(folder: string) {
  const env = { SIG_KEYS_DIR: `${folder}/keys`, XDG_DATA_HOME: folder };
  const main = [
    ...["run", "--quiet", "--no-prompt", "-A"],
    ...programArgs("cli"),
  ];
  return {
    words: [Deno.execPath(), ...main],
    run: (...args: readonly string[]) =>
      runWell(Deno.execPath(), [...main, ...args], { env }),
    serve: (...args: readonly string[]) =>
      startServer(Deno.execPath(), [...main, "serve", ...args], { env }),
  };
}

/** The module cache, which may not be in the home of sshd's user. */
const DENO_DIR = await denoDir();

const DENIED = "Permission denied (publickey)";

withOpenSsh(
  "sshd lets people in while their issuer says so, and nobody else",
  async (t) => {
    await using folder = await tempFolder();
    const { path } = folder;
    const sig = sigIn(path);
    const user = (await runWell("id", ["-un"])).trim();
    const host = `127.0.0.1:${freePort()}`;
    const alice = await makeKey(path, "alice");
    const bob = await makeKey(path, "bob");
    const dir = ["--dir", `${path}/site`];
    await sig.run("init", host, "--allow-insecure", ...dir);
    const upsert = ["upsert", ...dir, "--type", "contractor"];
    await sig.run(
      ...[...upsert, "--role", `ssh:${user}`, "--subject", alice.publicFile],
      ...["--relationship-id", "alice"],
    );
    await sig.run(
      ...[
        ...upsert,
        "--role",
        "ssh:somebody-else",
        "--subject",
        bob.publicFile,
      ],
    );
    /** sshd runs only programs that belong to root, such as `env`. */
    const command = (...more: readonly string[]) =>
      [
        ...["/usr/bin/env", `XDG_DATA_HOME=${path}`],
        `XDG_CACHE_HOME=${path}/cache`,
        ...[`DENO_DIR=${DENO_DIR}`, ...sig.words, "ssh-keys", host],
        ...["--allow-insecure", "--require", "role=ssh:%u"],
        ...["--key-type", "%t", "--key", "%k", ...more],
      ].join(" ");
    const remembering = command("--max-age", "1h");
    const denied = async (sshd: TestSshd, key: typeof alice) => {
      const { code, stderr } = await sshd.logIn(key);
      assertEquals(code, 255);
      assertStringIncludes(stderr, DENIED);
    };
    {
      await using site = await sig.serve(`${path}/site`, "--addr", host);
      await using sshd = await startSshd(path, freePort(), command());
      await t.step("admits a person with the role", async () => {
        assertEquals(await sshd.logIn(alice), {
          ...{ code: 0, stdout: "", stderr: "" },
        });
      });
      await t.step(
        "denies a person with the role of another account",
        () => denied(sshd, bob),
      );
      await t.step("remembers the feed with --max-age", async () => {
        await using sshd = await startSshd(path, freePort(), remembering);
        assertEquals((await sshd.logIn(alice)).code, 0);
      });
      await t.step("denies while the issuer is unreachable", async () => {
        await site.stop();
        await denied(sshd, alice);
        assertStringIncludes(sshd.log(), "failed, status 2");
      });
    }
    await t.step(
      "admits while the issuer is unreachable, within --max-age",
      async () => {
        await using sshd = await startSshd(path, freePort(), remembering);
        assertEquals((await sshd.logIn(alice)).code, 0);
      },
    );
    await t.step("denies immediately after a revocation", async () => {
      await using _site = await sig.serve(`${path}/site`, "--addr", host);
      await using sshd = await startSshd(path, freePort(), command());
      assertEquals((await sshd.logIn(alice)).code, 0);
      await sig.run(
        ...["revoke", ...dir, "--relationship-id", "alice"],
        ...["--reason-code", "contract_ended"],
      );
      await denied(sshd, alice);
    });
  },
);
