import { createMemoryStore } from "@sig/consumer/store";
import { assert, assertEquals } from "@std/assert";
import { createGrants, type FoundGrant, type Grants } from "./grants.ts";

const AT = new Date("2026-01-31T09:00:00Z");
const OPTIONS = { refreshUntil: new Date(AT.getTime() + 3_600_000) };

const create = (grants: Grants, sid = "s", subject = "did:web:alice.example") =>
  grants.create({
    ...{ client_id: "app", subject, sid, joined: "j1" },
    ...{ scope: ["openid"], auth_time: 0 },
    binding: { redirect_uri: "https://app.example/cb", code_challenge: "x" },
  }, OPTIONS.refreshUntil);

async function newGrant(): Promise<{ grants: Grants; code: string }> {
  const grants = createGrants({ store: createMemoryStore(), now: () => AT });
  return { grants, code: await create(grants) };
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
    found.map((each) => grants.exchange(each, OPTIONS)),
  )).filter((each) => each !== undefined);
  assertEquals(won.length, 1);
  assertEquals(await grants.find(won[0]!.access_token), undefined);
});

Deno.test("only one of several readers of a valid refresh token rotates it, and its tokens are revoked", async () => {
  const { grants, code } = await newGrant();
  const first = await grants.exchange((await grants.find(code))!, OPTIONS);
  const found = await lookedUp(grants, first!.refresh_token!);
  const won = (await Promise.all(
    found.map((each) => grants.exchange(each, OPTIONS)),
  )).filter((each) => each !== undefined);
  assertEquals(won.length, 1);
  assertEquals(await grants.find(won[0]!.refresh_token!), undefined);
});

Deno.test("a person's logins at an application displace that person's oldest, whatever the session", async () => {
  const { grants, code: others } = await newGrant();
  const codes: string[] = [];
  for (let i = 0; i < 801; i++) {
    codes.push(await create(grants, `s${i % 51}`, "did:web:mallory.example"));
  }
  const [first, second] = codes;
  assertEquals(await grants.find(first!), undefined);
  assert(await grants.find(second!) && await grants.find(others));
});
