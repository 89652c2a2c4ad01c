import { ApiClient, RequestRate, type ApiObserver } from '../../adapters/kubernetes/client/api-client.js';
import { acceptedTypes } from '../../adapters/kubernetes/encoding/media-types.js';
import type { Clock } from '../../application/ports/clock.js';
import type { Logger } from '../../application/ports/logger.js';
import type { CommandLine } from '../configuration/command-line.js';

/** A client of the API server, as the command line and clientConnection describe it. Nothing is read or opened yet. */
export function configuredApiClient(
  { master, configuration }: CommandLine,
  clock: Clock,
  logger: Logger,
  observer: ApiObserver,
): ApiClient {
  const { kubeconfig, qps, burst, contentType, acceptContentTypes } = configuration.clientConnection;
  const { accept, unsupported } = acceptedTypes(contentType, acceptContentTypes);
  if (unsupported.length > 0)
    logger.warn({ unsupported, accept }, 'ignoring unsupported content types of clientConnection');
  return new ApiClient({ ...(kubeconfig && { kubeconfig }), ...(master && { master }) }, clock, {
    accept,
    rate: new RequestRate(qps, burst, clock),
    observer,
  });
}
