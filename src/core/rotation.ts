/** As much of a sign as it takes to tell where a process is. */
interface Shown {
  session: string;
  sinceMs?: number | undefined;
}

/**
 * Where a process has gone, by all the conversations it shows at once: some hold on to the old one for a while after they
 * have gone to another. Null while it is where it was. `before` is what it showed at the last look, null at the first.
 */
export function movedTo<S extends Shown>(
  current: string | undefined,
  before: ReadonlySet<string> | null,
  shown: readonly S[],
): S | null {
  // Nothing has changed there; if the current one has, it was told of sooner in another way.
  if (before?.size === shown.length && shown.every(({ session }) => before.has(session))) return null;
  const here = shown.find(({ session }) => session === current);
  const others = shown.filter(({ session }) => session !== current);
  // It has let go of the one it was in.
  if (here === undefined) return latest(others.filter(({ session }) => !before?.has(session))) ?? latest(others);
  if (before !== null) return latest(others.filter(({ session }) => !before.has(session)));
  // The first look at one that has run for a while: what it took up later than the one it was in.
  return latest(others.filter(({ sinceMs }) => (sinceMs ?? 0) > (here.sinceMs ?? Number.POSITIVE_INFINITY)));
}

function latest<S extends Shown>(signs: readonly S[]): S | null {
  return signs.toSorted((a, b) => (a.sinceMs ?? 0) - (b.sinceMs ?? 0)).at(-1) ?? null;
}
