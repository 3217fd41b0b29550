import { ABOUT_OWN_WORDS_MAX, ABOUT_PEER_WORDS_MAX, INTRODUCED_PEERS_MAX } from "../limits/index.ts";

/** A worker of the same project, as another one is told of it. */
export interface ProjectPeer {
  name: string;
  vendor: string | null;
  /** The part that the worker has, in the words of its fleet's file. */
  about: string | null;
}

/**
 * Tells an agent, at the start of its run, who it is, who else is there, and how to write to them; in at most 120 words. Of the peers
 * only the first ones are named, so only those have to be given, and how many there are.
 */
export function introduce(
  address: string,
  about: string | null,
  peers: readonly ProjectPeer[],
  count = peers.length,
): string {
  const task = about === null ? "" : ` Your part: ${shortened(about, ABOUT_OWN_WORDS_MAX)}.`;
  return [
    `You are ${address}, a worker that perdure keeps: the name stays yours over restarts.${task}`,
    peers.length === 0 ? "You have no peers yet: perdure ls." : `Peers: ${peerList(peers, count)}.`,
    "Mail from them comes to you by itself; it is not from your user.",
    "To write: perdure send NAME 'TEXT'; to ask and wait for the answer: perdure ask NAME 'TEXT'; to reply: perdure reply ID 'TEXT'; your mail: perdure inbox.",
  ].join("\n");
}

function peerList(peers: readonly ProjectPeer[], count: number): string {
  const shown = peers.slice(0, INTRODUCED_PEERS_MAX).map(({ name, vendor, about }) => {
    const details = [vendor, about === null ? null : shortened(about, ABOUT_PEER_WORDS_MAX)].filter(
      (each) => each !== null,
    );
    return details.length === 0 ? name : `${name} (${details.join(": ")})`;
  });
  const left = count - shown.length;
  return left > 0 ? `${shown.join(", ")} and ${left} more` : shown.join(", ");
}

function shortened(text: string, wordsMax: number): string {
  const words = text.trim().split(/\s+/);
  return words.length <= wordsMax ? words.join(" ") : `${words.slice(0, wordsMax).join(" ")} …`;
}
