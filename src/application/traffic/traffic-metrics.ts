import { TrafficSeries, type SeriesValues } from '../../domain/traffic/traffic-series.js';
import { ConntrackUnavailableError } from '../ports/node/conntrack.js';
import type { Logger } from '../ports/logger.js';
import type { TrafficWatchers } from './traffic-watchers.js';

/** The traffic of Services as metrics: counted all the time, with a limit on the number of series. */
export class TrafficMetrics {
  private readonly series: TrafficSeries;
  private wasFull = false;

  /** @param limit how many service ports have series of their own */
  constructor(
    private readonly watchers: Pick<TrafficWatchers, 'keepCounting' | 'snapshot'>,
    private readonly limit: number,
    private readonly logger: Logger,
  ) {
    this.series = new TrafficSeries(limit);
  }

  /** Without connection tracking there are no such metrics, which is logged. */
  start(): void {
    try {
      this.watchers.keepCounting('numbers');
    } catch (error) {
      if (!(error instanceof ConntrackUnavailableError)) throw error;
      this.logger.warn({ error }, 'connections of Services cannot be counted; their metrics are missing');
    }
  }

  /** As of now. Cost: all service ports with traffic. */
  values(): readonly SeriesValues[] {
    const snapshot = this.watchers.snapshot();
    if (!snapshot) return [];
    const values = this.series.of(snapshot);
    if (this.series.isFull && !this.wasFull) {
      this.wasFull = true;
      this.logger.warn(
        { limit: this.limit },
        'too many service ports have traffic; the metrics of some are summed as "other"',
      );
    }
    return values;
  }
}
