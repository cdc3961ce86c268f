import { isSigError } from "@sig/core";
import {
  answerInvitation,
  createInvitation,
  generateSigningKey,
  importSigningKey,
  jwkToDidKey,
  type VerifiedAnswer,
  verifyAnswer,
} from "@sig/jose";
import { enrolmentDraft, type Issuer } from "@sig/issuer";
import { assert, assertEquals, assertObjectMatch } from "@std/assert";
import { expectSigError } from "../tests/kit/sig_errors.ts";
import { DID, NOW, placeTest as test, readFeed } from "./testdata/support.ts";

// promise: An invitation enrols one person, even with concurrent answers.

const now = () => NOW;

const enrol = (issuer: Issuer, answer: VerifiedAnswer) =>
  issuer.append(enrolmentDraft(answer));

/** Answers of two people to one invitation. */
async function twoAnswers(
  issuer: Issuer,
): Promise<readonly [VerifiedAnswer, VerifiedAnswer]> {
  const { did, signingKey, keys } = await issuer.identity();
  const invitation = await createInvitation({
    issuer: did,
    key: signingKey,
    terms: {
      relationship_type: "contractor",
      roles: ["review", "deploy"],
      valid_until: "2027-01-01T00:00:00Z",
      for: "Alice Doe",
    },
    now,
  });
  const answer = async () => {
    const key = await importSigningKey(await generateSigningKey());
    const given = await answerInvitation({ invitation, key, now });
    const verified = await verifyAnswer(given, { issuer: did, keys, now });
    assertEquals(verified.subject, jwkToDidKey(key.publicJwk));
    return verified;
  };
  return [await answer(), await answer()];
}

test("enrolling publishes the terms and the subject, but not the name", async ({ issuer }) => {
  const [alice] = await twoAnswers(issuer);
  const { event, repeated } = await enrol(issuer, alice);
  assertEquals(repeated, false);
  assertObjectMatch({ ...event }, {
    event_id: `inv-${alice.invitation.claims.jti}`,
    subject: alice.subject,
    relationship_type: "contractor",
    roles: ["review", "deploy"],
    valid_from: null,
    valid_until: "2027-01-01T00:00:00Z",
  });
  assert(!JSON.stringify(event).includes("Alice"));
});

test("an invitation admits one person; repeating it for that person changes nothing", async ({ issuer, place }) => {
  const [alice, mallory] = await twoAnswers(issuer);
  await enrol(issuer, alice);
  const again = await enrol(issuer, alice);
  assertEquals([again.sequence, again.repeated], [1, true]);
  const error = await expectSigError(
    enrol(issuer, mallory),
    "invitation_used",
    "used already, by somebody else",
  );
  assertEquals(error.context.sequence, 1);
  // Also after the first person was revoked, and without the index.
  await issuer.append({
    event_type: "relationship.revoke",
    relationship_id: again.relationship_id,
    reason_code: "contract_ended",
  });
  await issuer.close();
  await Deno.remove(`${place.dir}/.sig`, { recursive: true });
  const later = await place.open();
  assertEquals((await enrol(later, alice)).repeated, true);
  await expectSigError(
    enrol(later, mallory),
    "invitation_used",
    "used already",
  );
  assertEquals((await readFeed(place)).length, 2);
});

test("concurrent enrolments with one invitation admit exactly one person", async ({ place }) => {
  const one = await place.open();
  const other = await place.open();
  for (let round = 1; round <= 5; round++) {
    const [alice, mallory] = await twoAnswers(one);
    const ended = await Promise.allSettled([
      enrol(one, alice),
      enrol(other, mallory),
      enrol(other, alice),
      enrol(one, mallory),
    ]);
    const [subject, ...more] = new Set(
      ended.flatMap((each) =>
        each.status === "fulfilled" ? [each.value.event.subject] : []
      ),
    );
    assertEquals(more, []);
    const refused = ended.flatMap((each) =>
      each.status === "rejected" ? [each.reason] : []
    );
    assertEquals(refused.length, 2);
    assert(refused.every((each) => isSigError(each, "invitation_used")));
    const events = await readFeed(place);
    assertEquals(events.length, round);
    assertEquals(events.at(-1)?.subject, subject);
  }
});

test("identity() reads changed documents", async ({ issuer, place }) => {
  const before = await issuer.identity();
  assertEquals([before.did, before.signingKey.kid], [DID, "orgsign-1"]);
  const other = await place.open();
  await other.rotateKey({ kid: "orgsign-2" });
  const after = await issuer.identity();
  assertEquals(after.signingKey.kid, "orgsign-2");
  assertEquals([...after.keys.keys.keys()], ["orgsign-1", "orgsign-2"]);
});
