/** Copying, and saying whether it was done. @module */

import { useEffect, useState } from "preact/hooks";
import { shortened } from "./text.ts";

const SAID_FOR_MS = 2_000;

/** What is copied. */
export interface CopyProps {
  /** Asked for when the button is pressed. */
  readonly text: () => string;
  /** What it is, for people who can't see where the button is. */
  readonly what: string;
  /** Where the button says so to everybody: its class. */
  readonly spelled?: string;
}

/** A button that copies. */
export function CopyButton({ text, what, spelled }: CopyProps) {
  const [word, setWord] = useState("Copy");
  useEffect(() => {
    if (word === "Copy") return;
    const timer = setTimeout(() => setWord("Copy"), SAID_FOR_MS);
    return () => clearTimeout(timer);
  }, [word]);
  const copy = async () => {
    const done = await navigator.clipboard?.writeText(text()).then(
      () => true,
      () => false,
    );
    setWord(done ? "Copied" : "Select and copy");
  };
  return (
    <button
      type="button"
      class={spelled ?? "copy"}
      onClick={() => void copy()}
    >
      <span aria-live="polite">{word}</span>
      <span class={spelled === undefined ? "visually-hidden" : "spelled"}>
        {` ${what}`}
      </span>
    </button>
  );
}

/** A text in a fixed-width face with its copy button. */
export function Copyable({ visible, what, copied = visible }: {
  readonly visible: string;
  readonly what: string;
  readonly copied?: string;
}) {
  return (
    <div class="copyable">
      <code>{visible}</code>
      <CopyButton text={() => copied} what={what} />
    </div>
  );
}

/** A DID, shortened in its middle, whole where it is copied. */
export function Did({ did, what = "the DID" }: {
  readonly did: string;
  readonly what?: string;
}) {
  return (
    <span class="did">
      <code>{shortened(did)}</code>
      <CopyButton text={() => did} what={what} />
    </span>
  );
}
