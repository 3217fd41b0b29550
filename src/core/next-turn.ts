/** A message that waits for a worker whose turns are begun by mail. */
export interface WaitingMessage {
  id: string;
  /** The sender waits for an answer. */
  expectsReply: boolean;
  /** The message answers one of the worker's own: it is told, and begins nothing. */
  isReply: boolean;
  /** The sender may begin a turn. */
  mayActivate: boolean;
  bytes: number;
}

/** The messages that one turn is begun for. */
export interface NextTurn {
  /** The message that the turn answers; null where nobody waits for an answer. */
  ask: string | null;
  /** All that the turn is told, in order. */
  messages: string[];
}

export interface TurnBounds {
  /** Mail that expects no answer begins a turn, too. */
  plainActivates: boolean;
  messagesMax: number;
  bytesMax: number;
}

/**
 * Decides what the next turn is for; null if nothing that waits may begin one. Each ask is a turn of its own, in order; plain mail that
 * came before it is told in front of it, and in a turn before it if it is too much for one. What comes from a sender who may begin
 * nothing is left in the mailbox: no turn acts on it.
 */
export function nextTurn(waiting: readonly WaitingMessage[], bounds: TurnBounds): NextTurn | null {
  const told = waiting.filter(({ mayActivate, isReply }) => mayActivate || isReply);
  const askAt = told.findIndex(({ expectsReply, mayActivate }) => expectsReply && mayActivate);
  const ask = told[askAt];
  const plain = (ask === undefined ? told : told.slice(0, askAt)).filter(({ expectsReply }) => !expectsReply);
  const first = fitting(plain, bounds);
  if (ask !== undefined && first.length === plain.length) return { ask: ask.id, messages: idsOf([...first, ask]) };
  const begins = ask !== undefined || (bounds.plainActivates && plain.some(({ isReply }) => !isReply));
  return begins ? { ask: null, messages: idsOf(first) } : null;
}

/** Returns as many as fit into one turn, and at least one. */
function fitting(messages: readonly WaitingMessage[], { messagesMax, bytesMax }: TurnBounds): WaitingMessage[] {
  let total = 0;
  const end = messages.findIndex(({ bytes }, at) => {
    total += bytes;
    return at > 0 && (at >= messagesMax || total > bytesMax);
  });
  return end === -1 ? [...messages] : messages.slice(0, end);
}

function idsOf(messages: readonly WaitingMessage[]): string[] {
  return messages.map(({ id }) => id);
}
