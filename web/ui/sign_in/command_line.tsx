/** Signing in with `sig attest` instead of this browser's key. @module */

import { useState } from "preact/hooks";
import type { Challenge } from "../api.ts";
import { TextField } from "../elements.tsx";
import { Copyable, CopyButton, Download } from "../copy.tsx";

const COMMAND = "sig attest --challenge challenge.json --key alice.jwk";

/** The three steps on the command line. */
export function CommandLineSteps({ challenge, onAnswer }: {
  readonly challenge: Challenge;
  readonly onAnswer: (attestation: string) => void;
}) {
  const [answer, setAnswer] = useState("");
  const text = `${JSON.stringify(challenge, null, 2)}\n`;
  return (
    <ol class="by-command">
      <li>
        <p>
          Save the request as <code>challenge.json</code>.
        </p>
        <div class="actions">
          <Download name="challenge.json" text={text} />
          <CopyButton text={() => text} what="the request as JSON" />
        </div>
      </li>
      <li>
        <p>
          Sign it with your key. To create one:{" "}
          <code>sig key generate --out alice.jwk</code>.
        </p>
        <Copyable visible={COMMAND} what="the command" />
      </li>
      <li>
        <form
          onSubmit={(event) => {
            event.preventDefault();
            onAnswer(answer.replaceAll(/\s/g, ""));
          }}
        >
          <TextField
            id="attestation"
            label="Paste the output"
            rows={4}
            value={answer}
            onValue={setAnswer}
          />
          <button type="submit" disabled={answer.trim() === ""}>
            Send the answer
          </button>
        </form>
      </li>
    </ol>
  );
}
