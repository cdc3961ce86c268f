import { createMemoryStore } from "@sig/consumer/store";
import { assert, assertEquals } from "@std/assert";
import {
  createGrants,
  type FoundGrant,
  type Grants,
  MAX_GRANTS,
} from "./grants.ts";

const AT = new Date("2026-01-31T09:00:00Z");
const OPTIONS = { refreshUntil: new Date(AT.getTime() + 3_600_000) };

const ALICE = "did:web:alice.example";

const create = (
  grants: Grants,
  sid = "s",
  subject = ALICE,
  client_id = "app",
) =>
  grants.create({
    ...{ client_id, subject, sid, joined: "j1" },
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

Deno.test("an application's logins in one session displace its own oldest, also codes that are never used", async () => {
  const { grants, code: first } = await newGrant();
  const other = await create(grants, "s", ALICE, "other");
  const { refresh_token } = (await grants.exchange(
    (await grants.find(first))!,
    OPTIONS,
  ))!;
  for (let i = 1; i < MAX_GRANTS; i++) await create(grants);
  assert(await grants.find(refresh_token!));
  await create(grants);
  assertEquals(await grants.find(refresh_token!), undefined);
  assert(await grants.find(other));
});

Deno.test("a grant without a refresh token is removed together with its code, when its tokens have expired", async () => {
  let nowMs = AT.getTime();
  const now = () => new Date(nowMs);
  const grants = createGrants({ store: createMemoryStore(), now });
  const code = await create(grants);
  const found = (await grants.find(code))!;
  await grants.exchange(found, { refreshUntil: undefined });
  for (const [ms, isKept] of [[599_999, true], [600_000, false]] as const) {
    nowMs = AT.getTime() + ms;
    assertEquals(await grants.find(code) !== undefined, isKept);
  }
});
