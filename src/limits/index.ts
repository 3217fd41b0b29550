// Every bound of the product with its reason, in one file per room. A bound's name ends in its unit.

export * from "./wire.ts";
export * from "./files.ts";
export * from "./client.ts";
export * from "./daemon.ts";
export * from "./store.ts";
export * from "./names.ts";
export * from "./runs.ts";
export * from "./conversations.ts";
export * from "./vendors.ts";
export * from "./custody.ts";
export * from "./fleet.ts";
export * from "./mail.ts";
export * from "./tmux.ts";
export * from "./terminal.ts";
export * from "./units.ts";
export * from "./delivery.ts";
export * from "./mcp.ts";
export * from "./notify.ts";
export * from "./turns.ts";
export * from "./metrics.ts";
