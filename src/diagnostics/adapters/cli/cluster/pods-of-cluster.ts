import { podsNamed } from '../../kubernetes/pods-named.js';
import { SystemClock } from '../../../../adapters/process/system-clock.js';
import type { PodsOf } from '../tracing/tracing.js';
import { askApiServer, userApiClient, type ApiAccess } from './user-api-client.js';

/** Those that the API server knows, asked with the rights of the user. Rejects with CannotAskError if it does not answer. */
export function podsOfCluster(access: ApiAccess, context?: string): PodsOf {
  return (named) =>
    askApiServer(async () => {
      const client = await userApiClient(access, new SystemClock(), context);
      try {
        return await podsNamed(client, named);
      } finally {
        client.close();
      }
    });
}
