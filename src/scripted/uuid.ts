import { readIfThere } from "../state/files.ts";

/** A random UUID. Loading node:crypto would cost 6 ms of every start; Linux gives such ids away in a file. */
export function uuid(): string {
  return readIfThere("/proc/sys/kernel/random/uuid")?.trim() ?? process.getBuiltinModule("node:crypto").randomUUID();
}

/** A UUID of version 7, which sorts by time. */
export function timedUuid(): string {
  const time = Date.now().toString(16).padStart(12, "0");
  return `${time.slice(0, 8)}-${time.slice(8)}-7${uuid().slice(15)}`;
}

export function isUuid(text: string): boolean {
  return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text);
}
