export function attachPlan(a: {
  env: NodeJS.ProcessEnv;
  tmux: string;
  socket: string;
  session: string;
  pane: string;
  popup: boolean;
  window: boolean;
}): { argv: string[]; note: string | null; env: Record<string, string> } {
  return { argv: [a.tmux, "-S", a.socket, "attach", "-t", a.pane], note: null, env: {} };
}
