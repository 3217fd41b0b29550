import type { ErrorBody } from "./errors.ts";

/** What travels in frames. `id` 0 is the hello; every call of a connection has its own id from 1. */
export interface RequestFrame {
  id: number;
  call: string;
  params: unknown;
}

export type ResponseFrame =
  | { id: number; result: unknown }
  | { id: number; item: unknown }
  | { id: number; error: ErrorBody };

export interface Welcome {
  protocol: number;
  version: string;
  pid: number;
}
