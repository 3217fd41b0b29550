/** The part of a sign that tells which conversation a process is in. */
interface ConversationSign {
  session: string;
  sinceMs?: number | undefined;
}

/**
 * Returns the sign of the conversation that a process has moved to, or null while it has not moved. `signs` are all the
 * conversations it shows now: some agents keep the old one open for a while. `previous` is what it showed at the last
 * poll, null at the first.
 */
export function movedTo<S extends ConversationSign>(
  current: string | undefined,
  previous: ReadonlySet<string> | null,
  signs: readonly S[],
): S | null {
  // The signs have not changed; if the current conversation has, a hook reported it sooner.
  if (previous?.size === signs.length && signs.every(({ session }) => previous.has(session))) return null;
  const currentSign = signs.find(({ session }) => session === current);
  const others = signs.filter(({ session }) => session !== current);
  // The process has closed the conversation it was in.
  if (currentSign === undefined)
    return latest(others.filter(({ session }) => !previous?.has(session))) ?? latest(others);
  if (previous !== null) return latest(others.filter(({ session }) => !previous.has(session)));
  // At the first poll of a process that has run for a while: what it opened later than the conversation it was in.
  return latest(others.filter(({ sinceMs }) => (sinceMs ?? 0) > (currentSign.sinceMs ?? Number.POSITIVE_INFINITY)));
}

function latest<S extends ConversationSign>(signs: readonly S[]): S | null {
  return signs.toSorted((a, b) => (a.sinceMs ?? 0) - (b.sinceMs ?? 0)).at(-1) ?? null;
}
