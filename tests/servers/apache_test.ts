/// <reference lib="dom" />
/** Tests Apache's mod_auth_openidc with the configuration in docs/openid.md. */

import { assert, assertEquals } from "@std/assert";

import {
  SECRET,
  sha256,
  TestProvider,
} from "../../web/openid/testdata/test_provider.ts";
import type { Person } from "../../web/testdata/independent_client.ts";
import { browserTest } from "../../web/ui_test/testdata/browser.ts";
import type { Page } from "playwright-core";
import { WAIT_LIMIT_MS, waitForEqual, waitUntil } from "../kit/wait.ts";
import { freePort, hasProgram, TestProcess } from "../kit/process.ts";

const MODULES = "/usr/lib/apache2/modules";

function lacking(): string | undefined {
  if (!hasProgram("apache2")) return "there is no Apache here";
  try {
    Deno.statSync(`${MODULES}/mod_auth_openidc.so`);
    return undefined;
  } catch {
    return "there is no mod_auth_openidc here";
  }
}

/**
 * Returns the Apache configuration of the document, with the addresses of this
 * test.
 */
async function documented(login: string, app: string): Promise<string> {
  const text = await Deno.readTextFile(
    new URL("../../docs/openid.md", import.meta.url),
  );
  const [, block = ""] = /```apache\n([\s\S]*?)```/.exec(text) ?? [];
  assert(block.includes("OIDCProviderMetadataURL"));
  return block
    .replaceAll("https://login.acme.example", login)
    .replaceAll("https://wiki.acme.example", app)
    .replace(/(OIDCClientSecret ).*/, `$1"${SECRET}"`)
    .replace(/(OIDCCryptoPassphrase ).*/, "$1test-only-passphrase");
}

async function startApache(
  port: number,
  site: string,
): Promise<AsyncDisposable> {
  const dir = await Deno.makeTempDir({ prefix: "sig-apache-" });
  await Deno.chmod(dir, 0o755);
  await Deno.mkdir(`${dir}/www`);
  await Deno.writeTextFile(`${dir}/www/index.html`, "the wiki");
  const modules = [
    "mpm_event",
    "authn_core",
    "authz_core",
    "authz_user",
    "auth_openidc",
    "dir",
    "headers",
  ];
  await Deno.writeTextFile(
    `${dir}/apache.conf`,
    `ServerRoot ${dir}
ServerName localhost
Listen 127.0.0.1:${port}
PidFile ${dir}/pid
ErrorLog ${dir}/error.log
Mutex file:${dir}
DefaultRuntimeDir ${dir}
${
      modules.map((name) =>
        `LoadModule ${name}_module ${MODULES}/mod_${name}.so`
      ).join("\n")
    }
${Deno.uid() === 0 ? "User www-data\nGroup www-data" : ""}
DocumentRoot ${dir}/www
DirectoryIndex index.html
LogLevel warn auth_openidc:warn
${site}
`,
  );
  const args = ["-f", `${dir}/apache.conf`, "-DFOREGROUND"];
  const child = new TestProcess("apache2", args);
  const stop = async () => {
    const { stderr } = await child.stop();
    const log = await Deno.readTextFile(`${dir}/error.log`).catch(() => "");
    await Deno.remove(dir, { recursive: true });
    return stderr + log;
  };
  await child.listens(port).catch(async (error) => {
    throw new Error(`Apache did not start: ${await stop()}`, { cause: error });
  });
  return { [Symbol.asyncDispose]: async () => void await stop() };
}

/** Consents like the page, but with a key outside the browser. */
async function consent(
  page: Page,
  provider: TestProvider,
  person: Person,
): Promise<void> {
  await page.waitForURL((url) => url.hash.startsWith("#/sign-in/"));
  const id = new URL(page.url()).hash.split("/").pop() ?? "";
  const { challenge } = await page.evaluate(
    async (id) => await (await fetch(`/oidc/interaction/${id}`)).json(),
    id,
  );
  const attestation = person.attest(challenge, provider.now().getTime());
  const { redirect_to } = await page.evaluate(
    async ({ id, attestation }) => {
      const response = await fetch(`/oidc/interaction/${id}`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ attestation }),
      });
      return await response.json();
    },
    { id, attestation },
  );
  await page.goto(redirect_to);
}

browserTest(
  "Apache logs a person in and out, and logs them out after a back-channel logout",
  async (browser) => {
    const port = freePort();
    const app = `http://localhost:${port}`;
    await using provider = await TestProvider.start({
      clients: [{
        client_id: "wiki",
        client_secret_sha256: await sha256(SECRET),
        redirect_uris: [`${app}/oidc`],
        post_logout_redirect_uris: [`${app}/bye.html`],
        backchannel_logout_uri: `${app}/oidc?logout=backchannel`,
      }],
    });
    await using _apache = await startApache(
      port,
      await documented(provider.origin, app),
    );
    const { person, relationship } = await provider.employ();
    const context = await browser.newContext();
    context.setDefaultTimeout(WAIT_LIMIT_MS);
    try {
      const page = await context.newPage();
      const text = async () => await page.locator("body").textContent();
      await page.goto(`${app}/index.html?a=b`);
      await consent(page, provider, person);
      await waitForEqual(async () => [page.url(), await text()], [
        `${app}/index.html?a=b`,
        "the wiki",
      ]);

      // Log out at Apache: no form appears, because its ID token identifies the
      // person.
      await page.goto(
        `${app}/oidc?logout=${encodeURIComponent(`${app}/bye.html`)}`,
      );
      await page.waitForURL((url) =>
        url.hash.startsWith("#/sign-in/") || url.pathname === "/bye.html"
      );
      await page.goto(app);
      await consent(page, provider, person);
      assertEquals(await text(), "the wiki");

      // Log out by the issuer, without any action in the browser.
      await provider.demo.revoke(relationship);
      await provider.web.provider!.watch();
      // A delivery in progress does not include the newest notification.
      const delivered = await waitUntil(
        "delivered",
        () => provider.web.provider!.deliver(),
      );
      assertEquals(delivered, 1);
      // Polls the page, so that a failure shows its content.
      const isAtSignIn = () =>
        new URL(page.url()).hash.startsWith("#/sign-in/");
      await waitUntil("asked to sign in", async () => {
        await page.goto(app);
        return isAtSignIn();
      });
    } finally {
      await context.close();
    }
  },
  lacking(),
);
