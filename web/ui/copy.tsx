/** Copies and saves texts. @module */

import { useEffect, useState } from "preact/hooks";
import { Button, Icon } from "./elements.tsx";
import { shortened } from "./text.ts";

const CONFIRMED_FOR_MS = 2_000;

/** A button that copies a text and reports the result. */
export function CopyButton({ text, what, look }: {
  readonly text: () => string;
  /** The name of the text; by default only screen readers read it. */
  readonly what: string;
  /** The name is visible in a long or primary button; an icon has no words. */
  readonly look?: "primary" | "long" | "icon";
}) {
  const isIcon = look === "icon";
  const [label, setLabel] = useState("Copy");
  useEffect(() => {
    if (label === "Copy") return;
    const timer = setTimeout(() => setLabel("Copy"), CONFIRMED_FOR_MS);
    return () => clearTimeout(timer);
  }, [label]);
  const copy = async () => {
    const isDone = await navigator.clipboard?.writeText(text()).then(
      () => true,
      () => false,
    );
    setLabel(isDone ? "Copied" : "Select and copy");
  };
  return (
    <Button
      class={look === "primary" ? "primary" : "copy"}
      title={isIcon ? `Copy ${what}` : undefined}
      onClick={() => void copy()}
    >
      {isIcon && <Icon name={label === "Copied" ? "yes" : "copy"} />}
      <span aria-live="polite" class={isIcon ? "visually-hidden" : undefined}>
        {label}
      </span>
      <span
        class={look === undefined || isIcon ? "visually-hidden" : undefined}
      >
        {` ${what}`}
      </span>
    </Button>
  );
}

/** A monospaced text with its copy button. */
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

/** A DID, shortened on the screen; the copy button copies all of it. */
export function Did({ did, what = "the DID" }: { did: string; what?: string }) {
  return (
    <span class="did">
      <code>{shortened(did)}</code>
      <CopyButton text={() => did} what={what} />
    </span>
  );
}

/** A button that saves a JSON text as a file. */
export function Download({ name, text }: { name: string; text: string }) {
  const save = () => {
    const url = URL.createObjectURL(
      new Blob([text], { type: "application/json" }),
    );
    const link = document.createElement("a");
    link.href = url;
    link.download = name;
    link.click();
    // Delayed, since the browser reads the URL after this turn.
    setTimeout(() => URL.revokeObjectURL(url), 10_000);
  };
  return <Button onClick={save}>Download {name}</Button>;
}
