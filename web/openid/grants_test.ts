import { createMemoryStore } from "@sig/consumer/store";
import { assertEquals } from "@std/assert";
import {
  createGrants,
  type FoundGrant,
  type Grants,
  newGrantId,
} from "./grants.ts";
import { testKeys } from "./testdata/test_provider.ts";

const AT = new Date("2026-01-31T09:00:00Z");
const OPTIONS = { refreshUntil: new Date(AT.getTime() + 3_600_000) };

async function newGrant(): Promise<{ grants: Grants; code: string }> {
  const store = createMemoryStore();
  const grants = createGrants({
    store,
    keys: await testKeys(),
    now: () => AT,
  });
  const code = await grants.create(newGrantId(), {
    client_id: "app",
    subject: "did:web:alice.example",
    sid: "s",
    joined: "j1",
    scope: ["openid"],
    auth_time: 0,
    binding: { redirect_uri: "https://app.example/cb", code_challenge: "x" },
  });
  return { grants, code };
}

/** Reads the grant eight times before the first use. */
async function lookedUp(grants: Grants, token: string): Promise<FoundGrant[]> {
  const found = [];
  for (let i = 0; i < 8; i++) found.push((await grants.find(token))!);
  return found;
}

Deno.test("only one of several readers of a fresh code redeems it, and its tokens are revoked", async () => {
  const { grants, code } = await newGrant();
  const found = await lookedUp(grants, code);
  const won = (await Promise.all(
    found.map((each) => grants.redeem(each, OPTIONS)),
  )).filter((each) => each !== undefined);
  assertEquals(won.length, 1);
  assertEquals(await grants.find(won[0]!.access_token), undefined);
});

Deno.test("only one of several readers of a valid refresh token rotates it, and its tokens are revoked", async () => {
  const { grants, code } = await newGrant();
  const first = await grants.redeem((await grants.find(code))!, OPTIONS);
  const found = await lookedUp(grants, first!.refresh_token!);
  const won = (await Promise.all(
    found.map((each) => grants.rotate(each, OPTIONS)),
  )).filter((each) => each !== undefined);
  assertEquals(won.length, 1);
  assertEquals(await grants.find(won[0]!.refresh_token!), undefined);
});
