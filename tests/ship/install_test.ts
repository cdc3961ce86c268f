/** Runs `deno task install` with an empty home, as a new user does. */

import {
  assert,
  assertEquals,
  assertRejects,
  assertStringIncludes,
} from "@std/assert";
import { install } from "../../tools/install.ts";
import {
  LAZY_IMPORTS,
  shellLauncher,
  windowsLauncher,
} from "../../tools/launcher.ts";
import { EXECUTABLES, V8_FLAGS } from "../../tools/programs.ts";
import {
  denoDir,
  hasProgram,
  type Ran,
  ROOT,
  run as runProcess,
  runWell,
  tempFolder,
} from "../kit/process.ts";
import { programs } from "../kit/programs.ts";

const run = (
  command: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  cwd: URL | string = ROOT,
) => runProcess(command, args, { cwd, env: { NO_COLOR: "1", ...env } });

const ignore = Deno.build.os === "windows";

/** Defines a test with an empty home, whose path has blanks and quotes. */
function homeTest(name: string, work: (home: string) => Promise<void>): void {
  const fn = async () => {
    // The real path, since shells resolve links.
    const home = await Deno.realPath(
      await Deno.makeTempDir({ prefix: "sig it's new " }),
    );
    try {
      await work(home);
    } finally {
      await Deno.remove(home, { recursive: true });
    }
  };
  Deno.test({ name, ignore, fn });
}

/** Runs the task with an empty home and the module cache of this run. */
async function runTask(home: string, ...args: string[]): Promise<Ran> {
  const env = { HOME: home, DENO_DIR: await denoDir(), SHELL: "/bin/bash" };
  return await run(Deno.execPath(), ["task", "install", ...args], env);
}

/** Removes, at the end of its scope, the bundles that a test added to `dist`. */
function keepOldBundles(): Disposable {
  const dist = new URL("dist/", ROOT);
  Deno.mkdirSync(dist, { recursive: true });
  const bundles = () =>
    new Set(
      Array.from(Deno.readDirSync(dist), ({ name }) => name)
        .filter((name) => name.startsWith("programs-")),
    );
  const before = bundles();
  return {
    [Symbol.dispose]() {
      for (const name of bundles().difference(before)) {
        Deno.removeSync(new URL(name, dist), { recursive: true });
      }
    },
  };
}

/** Installs a bundle that is made already. */
async function installShared(
  home: string,
  { folder, ...given }: { folder?: string; PATH?: string; SHELL?: string } = {},
): Promise<string> {
  const bundle = await programs();
  const all = new Map(
    Object.entries({
      HOME: home,
      PATH: PATH_NOW,
      SHELL: "/bin/bash",
      ...given,
    }),
  );
  return await install(folder === undefined ? [] : [folder], {
    env: (name) => all.get(name),
    bundle: () => bundle,
  });
}

const PATH_NOW = Deno.env.get("PATH") ?? "";

homeTest(
  "installs sig, sig-api and sig-web to an empty home, prints the line for PATH, and replaces lost and damaged files when it runs again",
  async (home) => {
    using _ = keepOldBundles();
    const { code, stdout, stderr } = await runTask(home);
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

    const launcher = await Deno.readTextFile(`${folder}/sig`);
    const [, bundle] = /^bundle='(.*)'$/m.exec(launcher)!;
    // Files that no other test loads.
    const files = ["redis_client.js", "web/main.js"]
      .map((name) => `${bundle}/${name}`);
    const [lost, damaged] = files;
    const texts = await Promise.all(files.map((f) => Deno.readTextFile(f)));
    await Deno.remove(lost!);
    await Deno.writeTextFile(damaged!, "throw 1;");
    const again = await runTask(home);
    assertEquals(again.code, 0, again.stderr);
    for (const [i, file] of files.entries()) {
      assertEquals(await Deno.readTextFile(file), texts[i]);
    }
  },
);

homeTest(
  "says what PATH needs, depending on the shell and on what it has",
  async (home) => {
    const folder = `${home}/.local/bin`;
    assertStringIncludes(await installShared(home), `export PATH="${folder}`);
    const PATH = `${folder}:${PATH_NOW}`;
    assertStringIncludes(await installShared(home, { PATH }), "Try:");
    const other = await installShared(home, {
      PATH,
      folder: `${home}/other`,
    });
    assertStringIncludes(other, `Another sig is found first, in ${folder}`);
    const fish = await installShared(home, { SHELL: "/usr/bin/fish" });
    assertStringIncludes(fish, "fish_add_path");
  },
);

homeTest(
  "bash, zsh and fish run sig from a folder with spaces and quotes",
  async (home) => {
    await installShared(home, { folder: `${home}/my "tools"` });
    const PATH = `${home}/my "tools":${PATH_NOW}`;
    for (const shell of ["bash", "zsh", "fish"].filter(hasProgram)) {
      const found = await run(shell, ["-c", "sig --version"], { PATH });
      assertEquals([found.code, found.stdout], [0, "sig 0.1.0\n"], shell);
      const wrong = await run(shell, ["-c", "sig check --format json"], {
        PATH,
      });
      assertEquals(wrong.code, 2, shell);
      assertEquals(JSON.parse(wrong.stderr).code, "invalid_request");
    }
  },
);

homeTest(
  "exits with 2, which is not a deny, if too few files may be open for Deno to start",
  async (home) => {
    await installShared(home, { folder: home });
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
  },
);

homeTest(
  "never overwrites a file or link that is not a launcher",
  async (home) => {
    const folder = `${home}/bin`;
    await Deno.mkdir(folder);
    await Deno.writeTextFile(`${folder}/sig-web`, "#!/bin/sh\necho mine\n");
    const refused = await runTask(home, folder);
    assertEquals(refused.code, 1);
    assertStringIncludes(refused.stderr, `${folder}/sig-web exists`);
    assertStringIncludes(refused.stderr, "Nothing was written");
    const names = Array.from(Deno.readDirSync(folder), ({ name }) => name);
    assertEquals(names, ["sig-web"]);

    await Deno.remove(`${folder}/sig-web`);
    await installShared(home, { folder });
    await Deno.rename(`${folder}/sig`, `${home}/elsewhere`);
    await Deno.symlink(`${home}/elsewhere`, `${folder}/sig`);
    await assertRejects(
      () => installShared(home, { folder }),
      Error,
      `${folder}/sig exists`,
    );
    await Deno.remove(`${folder}/sig`);
    // Its own are replaced.
    await installShared(home, { folder });
  },
);

Deno.test({
  name:
    "a launcher without its Deno or checkout exits with 2, never with a deny",
  ignore,
  async fn() {
    const [sig] = EXECUTABLES;
    await using bundle = await tempFolder();
    await runWell("cp", ["-r", `${await programs()}/.`, bundle.path]);
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

homeTest(
  "a launcher lets watch start only the program of --exec",
  async (home) => {
    const launcher = `${home}/sig`;
    const [sig] = EXECUTABLES;
    const bundle = await programs();
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
  },
);

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
