import { ApiClient } from '../../adapters/kubernetes/client/api-client.js';
import type { ApiObserver } from '../../adapters/kubernetes/client/api-observer.js';
import { RequestRate } from '../../adapters/kubernetes/client/request-rate.js';
import type { ApiTimeouts } from '../../adapters/kubernetes/client/api-timeouts.js';
import type { Clock } from '../../application/ports/clock.js';
import type { Logger } from '../../application/ports/logger.js';
import type { CommandLine } from '../configuration/command-line.js';

const JSON_TYPE = 'application/json';

/** A client of the API server, as the command line and clientConnection describe it. Nothing is read or opened yet. */
export function configuredApiClient(
  { master, configuration }: CommandLine,
  timeouts: Partial<ApiTimeouts>,
  clock: Clock,
  logger: Logger,
  observer: ApiObserver,
): ApiClient {
  const { kubeconfig, qps, burst, contentType, acceptContentTypes } = configuration.clientConnection;
  const asked = [contentType, ...acceptContentTypes.split(',')].map((type) => type.trim()).filter(Boolean);
  if (!asked.every((type) => type === JSON_TYPE))
    logger.info(
      { asked, spoken: JSON_TYPE },
      'using JSON with the API server; other content types are not supported',
    );
  return new ApiClient({ ...(kubeconfig && { kubeconfig }), ...(master && { master }) }, clock, {
    timeouts,
    rate: new RequestRate(qps, burst, clock),
    observer,
  });
}
