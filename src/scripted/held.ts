/**
 * Set for a process that was exec'd a second time, to hold a lock of the kernel on this conversation: what happens once at
 * a launch has happened.
 */
export const HELD_VARIABLE = "PERDURE_SCRIPTED_HELD";
