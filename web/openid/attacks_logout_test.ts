import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { Browser, TestProvider } from "./testdata/test_provider.ts";

// promise: A link can't log a person out, and a logout ends the session.

Deno.test("a link alone can't log a person out: it leads to a confirmation form", async (t) => {
  await using provider = await TestProvider.start();
  const { origin } = provider;
  const { person, browser } = await provider.employ();
  const { person: bob } = await provider.employ();
  const tokens = await browser.tokens(provider, person);
  const others = await new Browser().tokens(provider, bob);
  const isIn = async () => await browser.silentError(provider) === null;
  const links: Record<string, string> = {
    "a bare link": "",
    "with a return":
      "client_id=app&post_logout_redirect_uri=https://app.example/bye",
    "with another session's token": `id_token_hint=${others.id_token}`,
    "with a guessed form field": "csrf=x",
  };
  for (const [what, query] of Object.entries(links)) {
    await t.step(what, async () => {
      const url = `${origin}/oidc/logout?${query}`;
      const { status, headers, text } = await browser.ask(url);
      assertEquals(status, 200);
      assertStringIncludes(text, '<form method="post" action="/oidc/logout">');
      const policy = headers.get("content-security-policy") ?? "";
      assertStringIncludes(policy, "form-action 'self'");
      assertStringIncludes(policy, "frame-ancestors 'none'");
      assert(await isIn());
    });
  }
  const post = (fields: Record<string, string>, headers = {}) =>
    browser.ask(`${origin}/oidc/logout`, {
      ...{ method: "POST", headers },
      body: new URLSearchParams(fields),
    });
  await t.step("rejects a form with a wrong token", async () => {
    assertEquals((await post({ csrf: "A".repeat(43) })).status, 200);
    assert(await isIn());
  });
  await t.step("a form of another site is redirected to a GET", async () => {
    const other = {
      ...{ origin: "https://app.example", "sec-fetch-site": "cross-site" },
    };
    const forms: Record<string, string>[] = [{ state: "x" }, {}, { csrf: "x" }];
    for (const fields of forms) {
      const { status, headers } = await post(fields, other);
      const url = `${origin}/oidc/logout?${new URLSearchParams(fields)}`;
      assertEquals([status, headers.get("location")], [303, url]);
      assertEquals(headers.getSetCookie(), []);
      assert(await isIn());
    }
  });
  await t.step("rejects invalid hints", async () => {
    for (
      const query of [
        `id_token_hint=${others.id_token}&client_id=other`,
        `id_token_hint=${tokens.id_token}x`,
        "state=1&state=2",
      ]
    ) {
      const url = `${origin}/oidc/logout?${query}`;
      const { status, headers } = await browser.ask(url);
      assertEquals([status, headers.get("location")], [400, null]);
    }
    assert(await isIn());
  });
  await t.step(
    "the provider's own form logs out and redirects to the registered address",
    async () => {
      const page = await browser.form(
        `${origin}/oidc/logout?client_id=app&state=%22%3Ex&post_logout_redirect_uri=https://app.example/bye`,
      );
      assert(!page.text.includes('">x'));
      assertStringIncludes(
        page.response.headers.get("content-security-policy") ?? "",
        "form-action 'self' https://app.example",
      );
      const { csrf, ...asked } = page.fields;
      // Not by a link, even with the form's token.
      await browser.ask(`${origin}/oidc/logout?csrf=${csrf}`);
      assert(await isIn());
      assertEquals(asked, {
        client_id: "app",
        state: '">x',
        post_logout_redirect_uri: "https://app.example/bye",
      });
      const { status, headers } = await post({ csrf: csrf!, ...asked });
      const bye = "https://app.example/bye?state=%22%3Ex";
      assertEquals([status, headers.get("location")], [303, bye]);
      assertEquals(await isIn(), false);
      assertEquals((await provider.refresh(tokens.refresh_token)).status, 400);
    },
  );
});

Deno.test("with an unregistered address the session ends on the provider's own page", async () => {
  await using provider = await TestProvider.start();
  const { origin } = provider;
  const { person } = await provider.employ();
  for (
    const query of [
      "client_id=app&post_logout_redirect_uri=https://evil.example/",
      "client_id=app&post_logout_redirect_uri=https://app.example/bye/",
      "post_logout_redirect_uri=https://app.example/bye",
      "id_token_hint=TOKEN&post_logout_redirect_uri=https://evil.example/",
    ]
  ) {
    const browser = new Browser();
    const { id_token } = await browser.tokens(provider, person);
    const url = `${origin}/oidc/logout?${query.replace("TOKEN", id_token)}`;
    let { response, fields: { csrf } } = await browser.form(url);
    assertEquals(csrf === undefined, query.includes("TOKEN"));
    if (csrf !== undefined) {
      const policy = response.headers.get("content-security-policy") ?? "";
      assert(policy.endsWith("; form-action 'self'"), policy);
      response = await browser.ask(`${origin}/oidc/logout`, {
        method: "POST",
        body: new URLSearchParams(`${query}&csrf=${csrf}`),
      });
    }
    assertEquals(response.status, 200, query);
    assertStringIncludes(response.text, "<h1>You are signed out</h1>");
    assertEquals(await browser.silentError(provider), "login_required");
  }
});
