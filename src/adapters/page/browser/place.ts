/** What the page shows. It stands in the address, behind the `#`, so that it can be kept and sent. */
export type Place =
  | { readonly view: 'overview' }
  | { readonly view: 'services'; readonly search: string; readonly show: Show }
  | { readonly view: 'service'; readonly namespace: string; readonly name: string }
  | { readonly view: 'trace'; readonly from: string; readonly to: string; readonly kernel: boolean };

/** Which services: all, those that failed to be programmed, or those without a usable endpoint. */
export type Show = 'all' | 'failing' | 'without-endpoints';

export const SHOWS: readonly Show[] = ['all', 'failing', 'without-endpoints'];

/** The place of an address such as `#/service/shop/cart`; the overview when it names none. */
export function placeOf(hash: string): Place {
  const [path = '', query = ''] = hash.replace(/^#?\/?/, '').split('?', 2);
  const [view, namespace, name] = path.split('/').map(decoded);
  const parameters = new URLSearchParams(query);
  const text = (key: string): string => parameters.get(key) ?? '';
  switch (view) {
    case 'services':
      return {
        view,
        search: text('search'),
        show: SHOWS.find((show) => show === text('show')) ?? 'all',
      };
    case 'service':
      return namespace && name ? { view, namespace, name } : { view: 'overview' };
    case 'trace':
      return { view, from: text('from'), to: text('to'), kernel: parameters.has('kernel') };
    default:
      return { view: 'overview' };
  }
}

/** The reverse of `placeOf`. */
export function hrefOf(place: Place): string {
  switch (place.view) {
    case 'overview':
      return '#/';
    case 'services':
      return `#/services${queryOf({ search: place.search, show: place.show === 'all' ? '' : place.show })}`;
    case 'service':
      return `#/service/${encodeURIComponent(place.namespace)}/${encodeURIComponent(place.name)}`;
    case 'trace':
      return `#/trace${queryOf({ from: place.from, to: place.to, kernel: place.kernel ? 'yes' : '' })}`;
  }
}

/** The parameters that are not empty, as a query; nothing when all are. */
export function queryOf(parameters: Readonly<Record<string, string>>): string {
  const given = Object.entries(parameters).filter(([, value]) => value !== '');
  return given.length === 0 ? '' : `?${new URLSearchParams(given).toString()}`;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
