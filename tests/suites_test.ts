// The suites of tools/platform_suites in this runtime.
import { assertEquals } from "@std/assert";
import { runSuites } from "../tools/platform_suites/run_suites.ts";
import { hasVectors, packInputs } from "./ship/testdata/platform_inputs.ts";
import { isCi } from "./kit/process.ts";

Deno.test({
  name: "every case of the vectors passes in Deno",
  ignore: !hasVectors() && !isCi,
  fn: async () => {
    const { lines } = await runSuites(await packInputs(), "node");
    assertEquals(lines, [
      "ok jsontestsuite: 318/318",
      "ok timestamps: 33/33",
      "ok didweb: 37/37",
      "ok base64url: 24320/24320",
      "ok envelopes (node:crypto): 134/134",
      "ok envelopes (WebCrypto): 134/134",
      "ok wycheproof (node:crypto): 151/151",
      "ok wycheproof (WebCrypto): 151/151",
      "ok feeds: 290/290",
      "ok questions: 50/50",
      "ok invitations: 6/6",
      "ok prototype pollution: 43/43",
    ]);
  },
});

Deno.test("the suites name the failing case, and a suite without cases fails", async () => {
  const encode = (value: unknown) => btoa(JSON.stringify(value));
  const { lines, passed } = await runSuites({
    files: {
      // A valid text with the name of an invalid one.
      "shared/jsontestsuite/test_parsing/n_good.json": encode({}),
      "shared/own/timestamps.json": encode([{
        value: "now",
        expect: "accept",
      }]),
      "shared/own/didweb.json": encode([]),
      "shared/own/envelopes.json": encode({ jwksSets: {}, cases: [] }),
      "shared/wycheproof/ed25519_test.json": encode({ testGroups: [] }),
      "own/feed/one.json": encode({
        usual: { now: "2026-01-01T00:00:00Z", documents: {} },
        cases: [{
          name: "empty",
          documents: {},
          expected: { result: "valid", by_relationship_id: {}, warnings: [] },
        }],
      }),
      "own/questions.json": encode({ cases: [] }),
    },
  }, "node");
  assertEquals(lines, [
    "FAILED jsontestsuite: 0/1, wrong: n_good.json",
    'FAILED timestamps: 0/1, wrong: "now"',
    "FAILED didweb: 0/0",
    "ok base64url: 24320/24320",
    "FAILED envelopes (node:crypto): 0/0",
    "FAILED envelopes (WebCrypto): 0/0",
    "FAILED wycheproof (node:crypto): 0/0",
    "FAILED wycheproof (WebCrypto): 0/0",
    "FAILED feeds: 0/1, wrong: empty",
    "FAILED questions: 0/0",
    "ok invitations: 6/6",
    "ok prototype pollution: 43/43",
  ]);
  assertEquals(passed, false);
});
