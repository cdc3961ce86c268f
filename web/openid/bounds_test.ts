import type { RecordKind } from "@sig/consumer/store";
import { assertEquals } from "@std/assert";
import { GRANT } from "../store/kinds.ts";
import { MAX_GRANTS } from "./grants.ts";
import {
  assertRefused,
  Browser,
  OTHER,
  TestProvider,
  VERIFIER,
} from "./testdata/test_provider.ts";

async function countOf(
  { store, now }: TestProvider,
  kind: RecordKind,
): Promise<number> {
  return (await store.list(kind, now())).records.length;
}

Deno.test("an application has a limited number of grants in a session, and only its own oldest is revoked", async () => {
  await using provider = await TestProvider.start();
  const { person, browser, ...first } = await provider.logIn();
  const { body: others } = await provider.redeem(
    await browser.signInForCode(provider, person, OTHER),
    OTHER,
  );
  const url = await provider.authorizeUrl({ prompt: "none" });
  for (let i = 0; i < MAX_GRANTS - 1; i++) await browser.follow(url);
  const next = await provider.refresh(first.refresh_token);
  assertEquals(next.status, 200);

  const last = await browser.codeAt(url);
  assertRefused(await provider.refresh(next.body.refresh_token), [
    400,
    "invalid_grant",
  ]);
  assertEquals((await provider.userinfo(next.body.access_token)).status, 401);
  assertEquals((await provider.redeem(last)).status, 200);
  assertEquals(
    (await provider.refresh(others.refresh_token, OTHER)).status,
    200,
  );
  // Codes that are never redeemed count too.
  for (let i = 0; i < MAX_GRANTS + 2; i++) await browser.follow(url);
  assertEquals(await countOf(provider, GRANT), MAX_GRANTS + 1);
});

Deno.test("a grant without a refresh token is removed together with its code", async () => {
  await using provider = await TestProvider.start();
  const { person } = await provider.employ();
  const redirect_uri = "https://spa.example/callback";
  const spa = { client_id: "spa", redirect_uri };
  const code = await new Browser().signInForCode(provider, person, spa);
  const redeem = () =>
    provider.post("/oidc/token", {
      ...{ grant_type: "authorization_code", ...spa },
      ...{ code, code_verifier: VERIFIER },
    });
  const { access_token } = (await redeem()).body;
  provider.skewMs = 290_000;
  assertEquals((await provider.userinfo(access_token)).status, 200);
  provider.skewMs = 310_000;
  assertEquals((await provider.userinfo(access_token)).status, 401);
  assertEquals(await countOf(provider, GRANT), 1);
  provider.skewMs = 601_000;
  assertEquals(await countOf(provider, GRANT), 0);
  assertRefused(await redeem(), [400, "invalid_grant"]);
});
