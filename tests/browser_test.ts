/// <reference lib="dom" />
import { assert, assertEquals } from "@std/assert";
import type { Page } from "playwright-core";
import { bundle } from "../tools/bundle.ts";
import type { SuitesPage } from "../tools/platform_suites/browser_main.ts";
import { browserTest } from "../web/ui_test/testdata/browser.ts";
import { serveLoopback } from "./kit/loopback.ts";
import { hasVectors, packInputs } from "./ship/testdata/platform_inputs.ts";
import { startPlatformServers } from "./ship/testdata/platform_servers.ts";

const PAGE = "<!doctype html><title>tests</title>";

/** Serves a page with these files on loopback. */
function servePage(files: Readonly<Record<string, string>>) {
  return serveLoopback(({ url }) => {
    const name = new URL(url).pathname.slice(1);
    const text = name === "" ? PAGE : files[name];
    const type = name === ""
      ? "text/html"
      : name.endsWith(".js")
      ? "text/javascript"
      : "application/json";
    return new Response(text ?? null, {
      status: text === undefined ? 404 : 200,
      headers: { "content-type": type },
    });
  });
}

/** Returns whether the page has none of the globals that browsers lack. */
function lacksPolyfills(page: Page): Promise<boolean> {
  return page.evaluate(() =>
    ["Buffer", "Deno", "global", "process", "require"].every((name) =>
      !(name in globalThis)
    )
  );
}

browserTest(
  "core, jose and consumer behave in a browser as they do here, but for what their READMEs say",
  async (browser) => {
    await using running = await startPlatformServers();
    await using server = servePage({
      "suites.js": await bundle("tools/platform_suites/browser_main.ts"),
      "inputs.json": JSON.stringify(await packInputs(running.servers)),
    });
    const page = await browser.newPage();
    await page.goto(`${server.origin}/`);
    await page.addScriptTag({ type: "module", url: "/suites.js" });
    assert(await lacksPolyfills(page));
    const { lines, passed } = await page.evaluate(() =>
      (globalThis as unknown as SuitesPage).runSuites("/inputs.json")
    );
    assertEquals(lines.filter((line) => !line.startsWith("ok ")), []);
    assertEquals(lines.map((line) => line.slice(3).split(":")[0]), [
      "jsontestsuite",
      "timestamps",
      "didweb",
      "base64url",
      "envelopes (WebCrypto)",
      "wycheproof (WebCrypto)",
      "feeds",
      "questions",
      "invitations",
      "fetching",
      "continuity",
      "prototype pollution",
    ]);
    assert(passed);
  },
  hasVectors() ? undefined : "the test vectors are not there",
);

/** The page's use of the two packages, which returns the results. */
const PAGE_CODE = `
import * as core from "/core.js";
import * as jose from "/jose.js";

export async function use() {
  const jwk = await jose.generateSigningKey({ kid: "k1" });
  const key = await jose.importSigningKey(jwk);
  const line = JSON.stringify(await jose.signEvent({ sequence: 1 }, key));
  const keys = await jose.createKeyResolver({ keys: [key.publicJwk] });
  const { kid } = await jose.verifyEnvelope(core.parseFeedLine(line), keys);
  let refused;
  try {
    await jose.createKeyResolver({ keys: [key.publicJwk] }, { backend: "node" });
  } catch (error) {
    refused = error.name + ": " + error.message;
  }
  return { kid, version: core.SPEC_VERSION, refused };
}
`;

const WORKER = `
import { use } from "/use.js";
postMessage(await use());
`;

const EXPECTED = {
  kid: "k1",
  version: "sig/0.1",
  refused:
    'TypeError: Cannot use backend "node": this platform has no node:crypto',
};

browserTest(
  "core and jose load in a page and in a worker without polyfills",
  async (browser) => {
    // In sequence: with an empty cache, two concurrent runs would install the
    // bundler twice.
    const core = await bundle("core/mod.ts");
    const jose = await bundle("jose/mod.ts");
    for (const code of [core, jose]) {
      // The bundle has no imports, not even of Node's modules.
      assert(!/^\s*(?:import|export)\b.*\bfrom\b/m.test(code));
      assert(!/\bimport\s*(?:\(|["'])/.test(code.replaceAll(/\/\/.*$/gm, "")));
      assert(!/\bDeno\.|\brequire\(/.test(code));
    }
    await using server = servePage({
      "core.js": core,
      "jose.js": jose,
      "use.js": PAGE_CODE,
      "worker.js": WORKER,
    });
    const page = await browser.newPage();
    await page.goto(`${server.origin}/`);
    assert(await lacksPolyfills(page));
    const inPage = await page.evaluate(async () => {
      const { use } = await import("/use.js" as string);
      return await use();
    });
    assertEquals(inPage, EXPECTED);
    const inWorker = await page.evaluate(() =>
      new Promise((resolve, reject) => {
        const worker = new Worker("/worker.js", { type: "module" });
        worker.onmessage = ({ data }) => resolve(data);
        worker.onerror = ({ message }) => reject(new Error(message));
      })
    );
    assertEquals(inWorker, EXPECTED);
  },
);
