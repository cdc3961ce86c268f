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

const WORKER = `
import * as jose from "/jose.js";
const jwk = await jose.generateSigningKey({ kid: "k1" });
const key = await jose.importSigningKey(jwk);
const keys = await jose.createKeyResolver({ keys: [key.publicJwk] });
const refused = await jose.createKeyResolver({ keys: [] }, { backend: "node" })
  .catch((error) => error.name + ": " + error.message);
const signature = await key.sign(new Uint8Array(1));
const verified = await keys.resolve("k1").verify(signature, new Uint8Array(1));
postMessage({ verified, refused });
`;

browserTest(
  "core and jose load in a worker without polyfills",
  async (browser) => {
    // It contains core.
    const jose = await bundle("jose/mod.ts");
    // The bundle has no imports, not even of Node's modules.
    assert(!/^\s*(?:import|export)\b.*\bfrom\b/m.test(jose));
    assert(!/\bimport\s*(?:\(|["'])/.test(jose.replaceAll(/\/\/.*$/gm, "")));
    assert(!/\bDeno\.|\brequire\(/.test(jose));
    await using server = servePage({ "jose.js": jose, "worker.js": WORKER });
    const page = await browser.newPage();
    await page.goto(`${server.origin}/`);
    const posted = await page.evaluate(() =>
      new Promise((resolve, reject) => {
        const worker = new Worker("/worker.js", { type: "module" });
        worker.onmessage = ({ data }) => resolve(data);
        worker.onerror = ({ message }) => reject(new Error(message));
      })
    );
    assertEquals(posted, {
      verified: true,
      refused:
        'TypeError: Cannot use backend "node": this platform has no node:crypto',
    });
  },
);
