import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import {
  Browser,
  CALLBACK,
  SECRET,
  sha256,
  TestProvider,
  usualClients,
  VERIFIER,
} from "./testdata/test_provider.ts";

// promise: A `form_post` response goes only to a registered URI, from a page
//   with one script.

Deno.test("with form_post a page submits codes and errors to the application", async () => {
  await using provider = await TestProvider.start();
  const { origin } = provider;
  const { person, browser } = await provider.employ();
  const state = 's"><script>alert(1)</script>\u200b';
  const changes = { response_mode: "form_post", state };
  const url = await provider.authorizeUrl(changes);
  const first = await browser.signIn(provider, person, url);
  const later = await browser.follow(url);
  for (const to of [first, later]) {
    assertEquals(to.origin, origin);
    const { response, text, action, fields } = await browser.form(to.href);
    assertEquals(response.status, 200);
    assertEquals(action, CALLBACK);
    const { code = "", ...others } = fields;
    assertEquals(others, { state, iss: origin });
    assert(!text.includes("<script>alert"));
    assertEquals((await provider.redeem(code)).status, 200);
    // The policy allows only the page's own script.
    const [, script = ""] = /<script>([^<]*)<\/script>/.exec(text) ?? [];
    const digest = Buffer.from(await sha256(script), "base64url");
    const policy = response.headers.get("content-security-policy") ?? "";
    assertStringIncludes(
      policy,
      `script-src 'sha256-${digest.toString("base64")}'`,
    );
    assertStringIncludes(policy, "default-src 'none'");
    assertEquals(response.headers.get("cache-control"), "no-store");
  }
  const silent = await new Browser().follow(
    await provider.authorizeUrl({ ...changes, prompt: "none" }),
  );
  const silentForm = await browser.form(silent.href);
  const { error, state: repeated } = silentForm.fields;
  assertEquals(
    [silentForm.action, error, repeated],
    [CALLBACK, "login_required", state],
  );
  const id = await browser.begin(
    await provider.authorizeUrl({ ...changes, prompt: "login" }),
  );
  const { body } = await browser.answer(origin, id, { declined: true });
  const { fields } = await browser.form(body.redirect_to);
  assertEquals(fields.error, "access_denied");
  // A response is submitted for a minute, and nothing else is.
  provider.skewMs = 60_000;
  const answers = ["", id, later.searchParams.get("answer")!];
  for (const answer of answers) {
    const { status, body } = await browser.ask(
      `${origin}/oidc/form-post?answer=${answer}`,
    );
    const detail = "Cannot sign in: this answer has expired";
    assertEquals([status, body.detail], [400, detail]);
  }
});

Deno.test("a client without PKCE needs a nonce; PKCE is enforced if it is used, and a verifier alone is rejected", async () => {
  const client_secret_sha256 = await sha256(SECRET);
  const clients = [...await usualClients(), {
    ...{ client_id: "old", client_secret_sha256, pkce: false },
    redirect_uris: [CALLBACK],
  }];
  await using provider = await TestProvider.start({ clients });
  const { person } = await provider.employ();
  const none = { code_challenge: undefined, code_challenge_method: undefined };
  const old = { client_id: "old" };
  const cases: readonly (readonly [
    changes: Record<string, string | undefined>,
    missing?: string,
  ])[] = [
    [{ ...old, ...none, nonce: undefined }, "nonce is required"],
    [{ ...old, ...none }],
    [
      { ...old, code_challenge_method: undefined },
      "code_challenge_method must be S256",
    ],
    [{ ...old, code_challenge: undefined }, "code_challenge is required"],
    [{ client_id: "app", ...none }, "code_challenge is required"],
    // A client that must use PKCE needs no nonce.
    [{ client_id: "app", nonce: undefined }],
  ];
  const advice = "see docs/openid.md, Libraries";
  for (const [changes, missing] of cases) {
    const url = await provider.authorizeUrl(changes);
    const { searchParams } = await new Browser().follow(url);
    assertEquals(
      [searchParams.get("error"), searchParams.get("error_description")],
      missing ? ["invalid_request", `${missing}; ${advice}`] : [null, null],
    );
  }
  // Without a valid address, the developer sees the advice on a page.
  const unknown = await new Browser().ask(
    await provider.authorizeUrl({ client_id: "nobody" }),
  );
  assertEquals(
    unknown.body.hint,
    "Its developer: see docs/openid.md, An entry of the file.",
  );
  // The documents have these sections.
  const page = await Deno.readTextFile(
    new URL("../../docs/openid.md", import.meta.url),
  );
  for (const title of ["Libraries", "An entry of the file"]) {
    assert(page.includes(`\n## ${title}\n`), title);
  }
  const wrong = "code_verifier does not match";
  const codes = [
    [none, "", undefined],
    [none, VERIFIER, wrong],
    [{}, VERIFIER, undefined],
    [{}, "x".repeat(43), wrong],
    [{}, "", "code_verifier is required"],
  ] as const;
  for (const [changes, code_verifier, says] of codes) {
    const asked = { ...old, ...changes };
    const code = await new Browser().signInForCode(provider, person, asked);
    const given = { ...old, code_verifier };
    const { status, body } = await provider.redeem(code, given);
    assertEquals([status, body.error_description], [says ? 400 : 200, says]);
  }
});
