import {
  assert,
  assertEquals,
  assertMatch,
  assertStringIncludes,
} from "@std/assert";
import { askJson } from "../kit/server_process.ts";
import { filesBelow } from "./testdata/files_below.ts";
import { LEGAL_COMMENT, startJsrRegistry } from "./testdata/jsr_registry.ts";
import { ENTRIES, PACKAGES, ROOT, VERSION } from "../../tools/workspace.ts";
import { runWell, startServer, tempFolder } from "../kit/process.ts";
import { publishPackages } from "./testdata/publish_packages.ts";
import {
  LARGE_EVENTS,
  MIN_WORKER_SHARE,
  runWithWorkers,
  writeLargeIssuer,
} from "./testdata/worker_share.ts";

// promise: Packages and executables come from a copy that was tested with JSR's
//   own `@std`.

const DENO = Deno.execPath();

/** The used part of `deno info --json`. */
interface Graph {
  readonly modules: readonly {
    readonly specifier: string;
    readonly dependencies?: readonly { readonly specifier: string }[];
  }[];
}

/**
 * Matches specifiers of other packages in a published module, with a version
 * range.
 */
const IN_REGISTRY =
  /^(?:jsr:\/?@(?:sig|std)\/[\w-]+@\^[\d.]+|npm:\/?(?:@\w+\/)?[\w-]+@\^[\d.]+|node:\w+)(?:\/[\w-]+)*$/;

/** A user's program that imports each library. */
const PROGRAM = `
import { SPEC_VERSION } from "jsr:@sig/core@^${VERSION}";
import { generateSigningKey, importSigningKey } from "jsr:@sig/jose@^${VERSION}";
import { createMemoryKeyStore, createMemoryStore, initIssuer, openIssuer } from "jsr:@sig/issuer@^${VERSION}";
import { checkIssuer, openInlineFeed } from "jsr:@sig/consumer@^${VERSION}";
import { createApp as createApi } from "jsr:@sig/api@^${VERSION}";
import { createServerIo, duration } from "jsr:@sig/api@^${VERSION}/program";
import { apiProgram } from "jsr:@sig/api@^${VERSION}/internal/sig-api";
import { createApp as createWeb } from "jsr:@sig/web@^${VERSION}";
import { webProgram } from "jsr:@sig/web@^${VERSION}/sig-web";
import { run } from "jsr:@sig/cli@^${VERSION}";

const store = createMemoryStore();
const keys = createMemoryKeyStore();
await initIssuer({ store, keys, did: "did:web:acme.example" });
const issuer = await openIssuer({ store, keys, now: () => new Date() });
const subject = "did:web:alice.example";
await issuer.append({ event_type: "relationship.upsert", subject, relationship_type: "employee", roles: ["deploy"] });
const read = (path: string) => new TextDecoder().decode(store.files.get("/.well-known/" + path));
const feed = { metadata: JSON.parse(read("sig.json")), jwks: JSON.parse(read("jwks.json")), events: read("sig/events.jsonl") };
const { decision } = await checkIssuer(openInlineFeed(feed), { subject, require: ["role=deploy"] }, { now: new Date() });
const key = await importSigningKey(await generateSigningKey({ kid: "k" }));
const services = [];
for (const app of [createApi(), createWeb({ audiences: ["https://shop.example"] })]) {
  const response = await app.fetch(new Request("http://127.0.0.1/healthz"));
  services.push((await response.json()).service);
}
const names = [apiProgram.name, webProgram.name, typeof run, typeof createServerIo];
console.log(JSON.stringify([SPEC_VERSION, key.kid, decision, services, duration.parse("2s", "--x"), names]));
`;

Deno.test("publishes seven packages, which run from jsr: specifiers", async (t) => {
  await using registry = await startJsrRegistry(ROOT);
  await using folder = await tempFolder();
  const elsewhere = folder.path;
  const inRegistry = (path: string) => `${registry.folder}/@sig/${path}`;
  // An empty folder and an empty cache, as on a new machine.
  const options = {
    cwd: elsewhere,
    env: {
      JSR_URL: registry.url,
      NO_COLOR: "1",
      DENO_DIR: `${elsewhere}/cache`,
      DENO_NO_UPDATE_CHECK: "1",
      SIG_KEYS_DIR: `${elsewhere}/keys`,
    },
  };
  const deno = (...args: string[]) => runWell(DENO, args, options);

  await t.step(
    "the archive of the task publish was tested, and publishes all packages",
    async () => {
      await publishPackages(registry);
      const found = [...Deno.readDirSync(inRegistry(""))].map(({ name }) =>
        name
      );
      assertEquals(found.toSorted(), [...PACKAGES].toSorted());
    },
  );

  await t.step("publishes no tests and other development files", async () => {
    const paths: string[] = [];
    for (const name of PACKAGES) {
      for await (const path of filesBelow(inRegistry(`${name}/${VERSION}`))) {
        paths.push(`${name}${path}`);
      }
    }
    const ours =
      /_test\.|\/testdata\/|\/ui_test\/|vector|\/bench\/|\/node_modules\/|\/\./;
    assertEquals(paths.filter((path) => ours.test(path)), []);
    for (const name of PACKAGES) {
      for (const file of ["README.md", "LICENSE", "deno.json", "mod.ts"]) {
        assert(paths.includes(`${name}/${file}`), `${name} lacks ${file}`);
      }
    }
  });

  await t.step("the page's script contains @std of the registry", async () => {
    const assets = inRegistry(`web/${VERSION}/pages/assets.ts`);
    const text = await Deno.readTextFile(assets);
    assertStringIncludes(text, LEGAL_COMMENT);
  });

  await t.step(
    "sig runs with an empty cache, and creates and verifies an issuer",
    async () => {
      const sig = (...args: string[]) =>
        deno(
          ...["run", "--quiet", "--no-prompt"],
          ...["--allow-read", "--allow-write", "--allow-env=SIG_KEYS_DIR"],
          ...["jsr:@sig/cli", ...args],
        );
      assertEquals(await sig("--version"), `sig ${VERSION}\n`);
      await sig("init", "acme.example");
      const upsert = "upsert --dir acme.example --type employee --role deploy";
      await sig(...upsert.split(" "), "--subject", "did:web:alice.example");
      assertMatch(
        await sig("verify", "./acme.example"),
        /^valid: 1 events? of did:web:acme\.example, last sequence 1 /,
      );
    },
  );

  await t.step({
    name: "workers verify a large feed without additional permissions",
    ignore: Deno.build.os !== "linux",
    fn: async () => {
      await writeLargeIssuer(`${elsewhere}/large`);
      const least = ["run", "--quiet", "--no-prompt", "--allow-read"];
      const { code, stdout, stderr, share } = await runWithWorkers(
        DENO,
        [...least, "jsr:@sig/cli", "verify", "./large"],
        options,
      );
      assertEquals([code, stderr], [0, ""]);
      assertStringIncludes(stdout, `valid: ${LARGE_EVENTS} events`);
      assert(share > MIN_WORKER_SHARE, `workers did ${share} of the work`);
    },
  });

  await t.step(
    "modules import from registries, not from links or aliases",
    async () => {
      const named = new Set<string>();
      const all = ENTRIES.map(({ specifier }) =>
        `import "jsr:@sig/${specifier}";\n`
      );
      await Deno.writeTextFile(`${elsewhere}/all.ts`, all.join(""));
      const args = ["info", "--quiet", "--json", "all.ts"];
      const { modules }: Graph = JSON.parse(await deno(...args));
      for (const { specifier, dependencies } of modules) {
        if (!specifier.startsWith(`${registry.url}@sig/`)) continue;
        for (const { specifier } of dependencies ?? []) {
          if (!/^\.\.?\//.test(specifier)) named.add(specifier);
        }
      }
      assertEquals([...named].filter((each) => !IN_REGISTRY.test(each)), []);
      const beginnings = [
        `jsr:@sig/core@^${VERSION}`,
        "jsr:/@std/encoding@^1.",
      ];
      for (const each of [...beginnings, "npm:hono@^4.", "npm:jose@^6."]) {
        assert([...named].some((name) => name.startsWith(each)), each);
      }
    },
  );

  await t.step("a program imports each library with its types", async () => {
    const program = `${elsewhere}/program.ts`;
    // Type-checks published packages as users do: the declarations that Deno
    // derives for every entry point, without function bodies.
    const entries = ENTRIES.map(({ specifier }) =>
      `import type {} from "jsr:@sig/${specifier}";\n`
    );
    await Deno.writeTextFile(program, entries.join("") + PROGRAM);
    const said = await deno("run", "--quiet", "--check=all", "-A", program);
    assertEquals(JSON.parse(said), [
      "sig/0.1",
      "k",
      "allow",
      ["sig-api", "sig-web"],
      2000,
      ["sig-api", "sig-web", "function", "function"],
    ]);
  });

  await t.step("both servers run and serve their pages", async () => {
    const least = ["run", "--quiet", "--no-prompt", "--allow-net"];
    for (const name of ["api", "web"]) {
      const args = [...least, `jsr:@sig/${name}`, "--addr", "127.0.0.1:0"];
      await using server = await startServer(DENO, args, options);
      const { status, body } = await askJson(`${server.origin}/healthz`);
      assertEquals([status, body.service], [200, `sig-${name}`]);
      const page = await fetch(
        server.origin + (name === "api" ? "/docs" : "/"),
      );
      assertStringIncludes(await page.text(), "</html>");
      assertEquals(page.status, 200);
      if (name === "web") {
        const script = await fetch(`${server.origin}/ui/page.min.js`);
        assertStringIncludes(await script.text(), "signature_invalid");
      }
      assertEquals((await server.stop()).code, 0);
    }
  });

  await t.step("deno serve runs the modules of a deployment", async () => {
    const args = ["serve", "--no-prompt", "--host", "127.0.0.1", "--port", "0"];
    await using server = await startServer(
      DENO,
      [...args, "--allow-env", "jsr:@sig/api/serve"],
      options,
    );
    const { body } = await askJson(`${server.origin}/healthz`);
    assertEquals(body.service, "sig-api");
  });
});
