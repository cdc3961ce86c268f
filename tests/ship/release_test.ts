import { assert, assertEquals, assertMatch } from "@std/assert";
import { compileExecutable } from "../../tools/compile.ts";
import { makeRelease, TARGETS } from "../../tools/release.ts";
import { ROOT, sha256, VERSION } from "../../tools/workspace.ts";
import { freePort, run, runWell, tempFolder } from "../kit/process.ts";
import { programs } from "../kit/programs.ts";
import { startJsrRegistry } from "./testdata/jsr_registry.ts";
import { runTool, SMALL_TEST } from "./testdata/publish_packages.ts";

const [LINUX, WINDOWS] = [TARGETS[0]!, TARGETS[4]!];

Deno.test("a release has an archive for each target", async () => {
  await using folder = await tempFolder();
  const { path } = folder;
  await Deno.writeTextFile(`${path}/sig-0.0.9-${LINUX}.tar.gz`, "");
  await Deno.writeTextFile(`${path}/not-ours.txt`, "");
  const { archives, failures } = await makeRelease({
    folder: path,
    bundle: path,
    async compile({ name }, { folder, target }) {
      if (target?.includes("darwin")) throw new Error("no runtime");
      const file = target === WINDOWS ? `${name}.exe` : name;
      await Deno.writeTextFile(`${folder}/${file}`, target!, { mode: 0o755 });
      return `${folder}/${file}`;
    },
  });
  assertEquals(failures, [
    { target: "x86_64-apple-darwin", reason: "no runtime" },
    { target: "aarch64-apple-darwin", reason: "no runtime" },
  ]);
  const made = TARGETS.filter((target) => !target.includes("darwin"));
  assertEquals(archives, made.map((it) => `sig-${VERSION}-${it}.tar.gz`));
  const found = [...Deno.readDirSync(path)].map(({ name }) => name).sort();
  assertEquals(found, [...archives, "SHA256SUMS", "not-ours.txt"].sort());

  await runWell("sha256sum", ["--check", "--strict", "SHA256SUMS"], {
    cwd: path,
  });
  const sums = await Deno.readTextFile(`${path}/SHA256SUMS`);
  assertEquals(sums.trimEnd().split("\n").length, archives.length);
  const first = await sha256(await Deno.readFile(`${path}/${archives[0]}`));
  assert(sums.startsWith(`${first}  ${archives[0]}\n`));

  for (const [target, suffix] of [[LINUX, ""], [WINDOWS, ".exe"]] as const) {
    const name = `sig-${VERSION}-${target}`;
    const list = await runWell("tar", ["-tvzf", `${name}.tar.gz`], {
      cwd: path,
    });
    for (const program of ["sig", "sig-api", "sig-web"]) {
      // The unpacked files are executable.
      assertMatch(
        list,
        new RegExp(`^-rwxr-xr-x .* ${name}/${program}${suffix}$`, "m"),
      );
    }
    for (const file of ["README.md", "LICENSE", "deno.lock"]) {
      assertMatch(list, new RegExp(` ${name}/${file}$`, "m"));
    }
  }
});

Deno.test("a target that fails is reported with the reason", async () => {
  await using folder = await tempFolder();
  const { archives, failures } = await makeRelease({
    folder: folder.path,
    bundle: await programs(),
    targets: [LINUX],
    compile: (executable, options) =>
      compileExecutable(executable, {
        ...options,
        // A missing runtime fails on every machine.
        env: { DENORT_BIN: "/nonexistent/denort" },
      }),
  });
  assertEquals([archives, failures.length], [[], 1]);
  assertMatch(failures[0]!.reason, /^Cannot compile sig: .*denort/);
  assertEquals([...Deno.readDirSync(folder.path)], []);
});

Deno.test("deno task release compiles a copy with the registry's @std, and archives its lock", async () => {
  await using registry = await startJsrRegistry(ROOT);
  await using folder = await tempFolder();
  const args = ["--output", folder.path, "--target", LINUX, SMALL_TEST];
  const { code, stdout, stderr } = await runTool(
    registry,
    ["tools/release.ts", ...args],
    // A fake runtime, to which the program is appended; it does not run.
    { DENORT_BIN: "/bin/true" },
  );
  assertEquals(code, 0, stdout + stderr);
  const name = `sig-${VERSION}-${LINUX}`;
  const archive = `${folder.path}/${name}.tar.gz`;
  const lock = await runWell("tar", ["-xOzf", archive, `${name}/deno.lock`]);
  const { jsr }: { jsr: Record<string, { integrity: string }> } = JSON.parse(
    lock,
  );
  const { imports } = JSON.parse(
    await Deno.readTextFile(new URL("deno.json", ROOT)),
  );
  assertEquals(
    Object.keys(jsr).map((each) => each.replace(/@[\d.]+$/, "")),
    Object.keys(imports).filter((each) => each.startsWith("@std/")).sort(),
  );
  for (const { integrity } of Object.values(jsr)) {
    assertMatch(integrity, /^[0-9a-f]{64}$/);
  }
});

Deno.test("without JSR there is no release, and the error gives the reason", async () => {
  await using folder = await tempFolder();
  const { code, stdout, stderr } = await runTool(
    { url: `http://127.0.0.1:${freePort()}/` },
    ["tools/release.ts", "--output", folder.path],
  );
  assertEquals([code, stdout], [1, ""]);
  assertMatch(
    stderr,
    // Without links, the tool itself can't be loaded.
    /\nCannot make a release: deno install failed in a copy of the checkout\n$|^error: JSR package manifest /,
  );
  assertEquals([...Deno.readDirSync(folder.path)], []);
});

Deno.test("an unknown target exits with 2 and lists all targets", async () => {
  const { code, stdout, stderr } = await run(
    Deno.execPath(),
    ["run", "-A", "tools/release.ts", "--target", "riscv64"],
    { cwd: ROOT },
  );
  assertEquals([code, stdout], [2, ""]);
  for (const target of TARGETS) assert(stderr.includes(target));
});
