import { expect, test } from "vitest";
import { WorkerActivities, type WorkerActivity } from "../../src/daemon/worker-activity.ts";

const never = new AbortController().signal;

test("a listener gets what every living worker does, at once, and then each change", () => {
  const activities = new WorkerActivities();
  activities.began("h.api.a.1", 1);
  activities.began("h.api.b.1", 2);
  activities.changed("h.api.a.1", "busy", null);
  const heard: string[] = [];
  const stop = activities.watch(({ workerId, run, activity }) => heard.push(`${workerId} ${run} ${activity}`));
  expect(heard).toEqual(["1 h.api.a.1 busy", "2 h.api.b.1 running"]);
  heard.length = 0;
  activities.changed("h.api.a.1", "busy", null);
  activities.changed("h.api.a.1", "blocked", "permission");
  activities.ended("h.api.b.1");
  stop();
  activities.changed("h.api.a.1", "idle", null);
  expect(heard).toEqual(["1 h.api.a.1 blocked", "2 null stopped"]);
  expect(activities.of(1)).toMatchObject({ activity: "idle", run: "h.api.a.1" });
  expect(activities.of(2)).toMatchObject({ activity: "stopped", run: null });
});

test("a run that another one has replaced says nothing any more, and its end is not the worker's", () => {
  const activities = new WorkerActivities();
  activities.began("h.api.a.1", 1);
  activities.began("h.api.a.2", 1);
  activities.changed("h.api.a.1", "busy", null);
  activities.ended("h.api.a.1");
  expect(activities.of(1)).toMatchObject({ run: "h.api.a.2", activity: "running" });
});

test("a claim that is made again, because its answer was lost, forgets nothing", () => {
  const activities = new WorkerActivities();
  activities.began("h.api.a.1", 1);
  activities.changed("h.api.a.1", "busy", null);
  activities.began("h.api.a.1", 1);
  expect(activities.of(1).activity).toBe("busy");
});

test("one can wait until a worker is idle: at once if it is, else at the change, or until one gives up", async () => {
  const activities = new WorkerActivities();
  const isIdle = ({ activity }: WorkerActivity): boolean => activity === "idle";
  const waiting = activities.until(1, isIdle, never);
  activities.began("h.api.a.1", 1);
  activities.changed("h.api.a.1", "busy", null);
  activities.changed("h.api.a.1", "idle", null);
  activities.changed("h.api.a.1", "busy", null);
  await expect(waiting).resolves.toMatchObject({ run: "h.api.a.1", activity: "idle" });
  activities.changed("h.api.a.1", "idle", null);
  await expect(activities.until(1, isIdle, never)).resolves.toMatchObject({ activity: "idle" });

  const giveUp = new AbortController();
  const inVain = activities.until(2, isIdle, giveUp.signal);
  giveUp.abort();
  await expect(inVain).rejects.toThrow(/abort/);
  await expect(activities.until(2, isIdle, giveUp.signal)).rejects.toThrow(/abort/);
});
