/** One figure of a metric, or one of the series that a histogram is made of. */
export interface MetricSample {
  /** The metric's name, for a histogram with `_bucket`, `_sum` or `_count` behind it. */
  name: string;
  labels: Record<string, string>;
  value: number;
}

/** A metric as Prometheus wants it: a name, what it means, and its figures. */
export interface Metric {
  name: string;
  type: "gauge" | "counter" | "histogram";
  help: string;
  samples: MetricSample[];
}
