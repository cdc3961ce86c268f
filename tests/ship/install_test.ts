/** Runs `deno task install` with an empty home, as a new user does. */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import {
  LAZY_IMPORTS,
  shellLauncher,
  windowsLauncher,
} from "../../tools/launcher.ts";
import { bundlePrograms, EXECUTABLES, V8_FLAGS } from "../../tools/programs.ts";
import {
  denoDir,
  hasProgram,
  type Ran,
  ROOT,
  run as runProcess,
  tempFolder,
} from "../kit/process.ts";

const run = (
  command: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  cwd: URL | string = ROOT,
) => runProcess(command, args, { cwd, env: { NO_COLOR: "1", ...env } });

/** Runs `work` with an empty home and the module cache of this run. */
async function withHome(
  work: (
    home: string,
    install: (
      folder?: string,
      env?: Record<string, string>,
    ) => Promise<Ran>,
  ) => Promise<void>,
): Promise<void> {
  // The real path, since shells resolve links.
  const home = await Deno.realPath(
    await Deno.makeTempDir({ prefix: "sig it's new " }),
  );
  const dir = await denoDir();
  try {
    await work(
      home,
      (folder, env = {}) =>
        run(Deno.execPath(), ["task", "install", ...folder ? [folder] : []], {
          ...{ HOME: home, DENO_DIR: dir, SHELL: "/bin/bash", ...env },
        }),
    );
  } finally {
    await Deno.remove(home, { recursive: true });
  }
}

const ignore = Deno.build.os === "windows";

Deno.test({
  name:
    "installs sig, sig-api and sig-web to an empty home, and prints the line for PATH",
  ignore,
  fn: () =>
    withHome(async (home, install) => {
      const { code, stdout, stderr } = await install();
      assertEquals(code, 0, stderr);
      const folder = `${home}/.local/bin`;
      assertStringIncludes(
        stdout,
        `Installed sig, sig-api and sig-web in ${folder}`,
      );
      assertStringIncludes(stdout, `${folder} is not in your PATH`);
      const [line] = /^ {2}export .*$/m.exec(stdout)!;
      for (const name of ["sig", "sig-api", "sig-web"]) {
        const outcome = await run("sh", ["-c", `${line}\n${name} --version`]);
        assertEquals([name, outcome.code, outcome.stdout], [
          name,
          0,
          `${name} 0.1.0\n`,
        ]);
      }
      const PATH = `${folder}:${Deno.env.get("PATH")}`;
      assertStringIncludes((await install(undefined, { PATH })).stdout, "Try:");
      const other = await install(`${home}/other`, { PATH });
      assertStringIncludes(
        other.stdout,
        `Another sig is found first, in ${folder}`,
      );
      const fish = await install(undefined, { SHELL: "/usr/bin/fish" });
      assertStringIncludes(fish.stdout, "fish_add_path");
    }),
});

Deno.test({
  name: "bash, zsh and fish run sig from a folder with spaces and quotes",
  ignore,
  fn: () =>
    withHome(async (home, install) => {
      const { code, stderr } = await install(`${home}/my "tools"`);
      assertEquals(code, 0, stderr);
      const PATH = `${home}/my "tools":${Deno.env.get("PATH")}`;
      for (const shell of ["bash", "zsh", "fish"].filter(hasProgram)) {
        const found = await run(shell, ["-c", "sig --version"], { PATH });
        assertEquals([found.code, found.stdout], [0, "sig 0.1.0\n"], shell);
        const wrong = await run(shell, ["-c", "sig check --format json"], {
          PATH,
        });
        assertEquals(wrong.code, 2, shell);
        assertEquals(JSON.parse(wrong.stderr).code, "invalid_request");
      }
    }),
});

Deno.test({
  name:
    "exits with 2, which is not a deny, if too few files may be open for Deno to start",
  ignore,
  fn: () =>
    withHome(async (home, install) => {
      await install(home);
      const check =
        `"$0/sig" check --sig "$0" --subject did:web:a.example --require role=x`;
      for (const limit of [12, 16, 22, 63, 64]) {
        const script = `ulimit -n ${limit}; ${check}`;
        const { code, stderr } = await run("sh", ["-c", script, home]);
        assertEquals(code, 2, `${limit}: ${stderr}`);
        // With 12, the shell can't open a file either.
        const isOurs = /64 are needed|Too many open/.test(stderr);
        assertEquals(isOurs, limit < 64, `${limit}: ${stderr}`);
      }
    }),
});

Deno.test({
  name: "never overwrites a file or link that is not a launcher",
  ignore,
  fn: () =>
    withHome(async (home, install) => {
      const folder = `${home}/bin`;
      await Deno.mkdir(folder);
      await Deno.writeTextFile(`${folder}/sig-web`, "#!/bin/sh\necho mine\n");
      const refused = await install(folder);
      assertEquals(refused.code, 1);
      assertStringIncludes(refused.stderr, `${folder}/sig-web exists`);
      assertStringIncludes(refused.stderr, "Nothing was written");
      const names = Array.from(Deno.readDirSync(folder), ({ name }) => name);
      assertEquals(names, ["sig-web"]);

      await Deno.remove(`${folder}/sig-web`);
      assertEquals((await install(folder)).code, 0);
      await Deno.rename(`${folder}/sig`, `${home}/elsewhere`);
      await Deno.symlink(`${home}/elsewhere`, `${folder}/sig`);
      assertEquals((await install(folder)).code, 1);
      await Deno.remove(`${folder}/sig`);
      assertEquals((await install(folder)).code, 0, "its own are replaced");
    }),
});

Deno.test({
  name:
    "a launcher without its Deno or checkout exits with 2, never with a deny",
  ignore,
  async fn() {
    const [sig] = EXECUTABLES;
    await using bundle = await tempFolder();
    await bundlePrograms(bundle.path);
    const names = [...Deno.readDirSync(bundle.path)].length;
    for (
      const options of [
        { deno: "/nowhere/deno", bundle: bundle.path, names: 0 },
        {
          ...{ deno: Deno.execPath(), names: 0 },
          bundle: "/nowhere/dist/programs-1",
        },
        // One file less than at the installation.
        { deno: Deno.execPath(), bundle: bundle.path, names: names + 1 },
      ]
    ) {
      const { code, stdout, stderr } = await run("sh", [
        ...["-c", shellLauncher(sig!, options), "sig", "check"],
      ]);
      assertEquals([code, stdout], [2, ""]);
      assertStringIncludes(stderr, "task install");
    }
    // A file that is loaded later.
    const files = Array.from(Deno.readDirSync(bundle.path), (f) => f.name);
    const file = files.find((name) => name.startsWith("check-"))!;
    await Deno.remove(`${bundle.path}/${file}`);
    const options = { deno: Deno.execPath(), bundle: bundle.path, names: 0 };
    const { code, stderr } = await run("sh", [
      ...["-c", shellLauncher(sig!, options), "sig", "check"],
      ...["--sig", ".", "--subject", "x", "--require", "role=x"],
    ]);
    assertEquals(code, 2, stderr);
    assertStringIncludes(
      stderr,
      "not_found: Cannot load the program: a file of it is missing",
    );
    assertStringIncludes(stderr, "task install");
  },
});

Deno.test({
  name: "installing again replaces lost and damaged files of the bundle",
  ignore,
  fn: () =>
    withHome(async (home, install) => {
      await install(home);
      const launcher = await Deno.readTextFile(`${home}/sig`);
      const [, bundle] = /^bundle='(.*)'$/m.exec(launcher)!;
      // Files that no other test loads.
      const files = ["redis_client.js", "web/main.js"]
        .map((name) => `${bundle}/${name}`);
      const [lost, damaged] = files;
      const texts = await Promise.all(files.map((f) => Deno.readTextFile(f)));
      await Deno.remove(lost!);
      await Deno.writeTextFile(damaged!, "throw 1;");
      const { code, stderr } = await install(home);
      assertEquals(code, 0, stderr);
      for (const [i, file] of files.entries()) {
        assertEquals(await Deno.readTextFile(file), texts[i]);
      }
    }),
});

Deno.test({
  name: "a launcher lets watch start only the program of --exec",
  ignore,
  fn: () =>
    withHome(async (home) => {
      const launcher = `${home}/sig`;
      const [sig] = EXECUTABLES;
      const bundle = `${home}/programs`;
      await bundlePrograms(bundle);
      const options = { deno: Deno.execPath(), bundle, names: 0 };
      const text = shellLauncher(sig!, options);
      await Deno.writeTextFile(launcher, text, { mode: 0o755 });
      const handler = "#!/bin/sh\ncat >> seen.txt\n";
      await Deno.writeTextFile(`${home}/handle`, handler, { mode: 0o755 });
      const env = { HOME: home, DENO_DIR: await denoDir() };
      const ask = (...args: string[]) => run(launcher, args, env, home);
      await ask("init", "acme.example");
      await ask(
        ...["upsert", "--dir", "acme.example", "--type", "employee"],
        ...["--subject", "did:web:alice.example", "--role", "deploy"],
      );
      const watch = ["watch", "./acme.example", "--from", "1", "--once"];
      const lines = [
        [...watch, "--exec", " ./handle -x"],
        [...watch, "--exec=./handle"],
        // The only flag that may precede the command.
        ["--format", "text", ...watch, "--exec", "./handle"],
        ["--format=json", ...watch, "--exec", "./handle"],
      ];
      for (const [i, line] of lines.entries()) {
        const { code, stderr } = await ask(...line, "--cursor", `c${i}`);
        assertEquals(code, 0, stderr);
      }
      const seen = await Deno.readTextFile(`${home}/seen.txt`);
      const sequences = seen.trim().split("\n").map((line) => JSON.parse(line))
        .map(({ sequence }) => sequence);
      assertEquals(sequences, [1, 1, 1, 1]);
      // A comma would separate two programs, so it is refused.
      const refused = await ask(...watch, "--exec", "./handle,x");
      assertEquals(refused.code, 2);
      assertStringIncludes(refused.stderr, "may not be started");
    }),
});

Deno.test("launchers have exactly the permissions of the executables", () => {
  const options = {
    deno: "C:\\100% deno.exe",
    bundle: "C:\\sig\\dist\\programs-1",
    names: 0,
  };
  for (const executable of EXECUTABLES) {
    for (
      const text of [
        shellLauncher(executable, options),
        windowsLauncher(executable, options),
      ]
    ) {
      assertEquals(
        [...text.matchAll(
          /--(?:allow|unstable|deny)[\w-]*(?:=[^\s']+)?|\s-A\b/g,
        )]
          .map(([flag]) => flag),
        [
          LAZY_IMPORTS,
          ...executable.permissions,
          // Only set for `watch --exec`.
          ...(text.startsWith("#!") && executable.name === "sig"
            ? ['--allow-run=$run"}']
            : []),
        ],
      );
      assert(text.includes("--no-prompt"));
      assert(text.includes(V8_FLAGS));
    }
  }
  const text = windowsLauncher(EXECUTABLES[0]!, options);
  assertStringIncludes(text, '\r\n"C:\\100%% deno.exe" run ');
  assertStringIncludes(text, '"C:\\sig\\dist\\programs-1\\cli\\main.js" %*');
});
