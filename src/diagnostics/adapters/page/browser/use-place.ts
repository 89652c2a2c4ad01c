import { useEffect, useState } from 'preact/hooks';
import { hrefOf, placeOf, type Place } from './place.js';

/** The place that the address names, now and after each change of it. */
export function usePlace(): Place {
  const [place, setPlace] = useState(() => placeOf(location.hash));
  useEffect(() => {
    const follow = (): void => setPlace(placeOf(location.hash));
    addEventListener('hashchange', follow);
    return () => removeEventListener('hashchange', follow);
  }, []);
  return place;
}

/** Goes to another place, as a link does. */
export function go(place: Place): void {
  location.hash = hrefOf(place);
}

/** Changes the present place, as typing does: the way back skips what was there. */
export function refine(place: Place): void {
  history.replaceState(null, '', hrefOf(place));
  dispatchEvent(new HashChangeEvent('hashchange'));
}
