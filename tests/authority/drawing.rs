//! The drawn bodies of others, against the server's history at the same time.

use crate::lab::{FRAME, Lab, Picture, bad_link, for_wires, ms};
use rebout::Frame;
use rebout::authority::{Body, Drawing};
use rebout::lab::link::{Chance, LinkConfig};
use support::repeats;

/// Where the server had an entity at a time between two frames.
fn truth(lab: &Lab, id: u8, time: f64) -> Option<Body> {
    let (before, after) =
        (lab.server().body(Frame(time as u32), id)?, lab.server().body(Frame(time as u32 + 1), id)?);
    let part = time.fract() as f32;
    let mix = |from: f32, to: f32| from + (to - from) * part;
    Some(Body { x: mix(before.x, after.x), y: mix(before.y, after.y), ..before })
}

struct Seen {
    worst: f32,
    between: usize,
    beyond: usize,
    frozen: usize,
}

fn judge(lab: &Lab, pictures: &[Picture]) -> Seen {
    let mut seen = Seen { worst: 0.0, between: 0, beyond: 0, frozen: 0 };
    for picture in pictures {
        let Some(truth) = truth(lab, picture.id, picture.render) else { continue };
        match picture.drawing {
            Drawing::Interpolated => {
                seen.between += 1;
                seen.worst = seen.worst.max(picture.body.distance(&truth));
            }
            Drawing::Extrapolated | Drawing::Held => seen.beyond += 1,
            _ => seen.frozen += 1,
        }
    }
    seen
}

#[test]
fn others_are_drawn_within_a_unit_of_the_servers_history() {
    let (mut worst, mut between, mut beyond, mut behind) = (0.0_f32, 0, 0, 0.0_f64);
    let seeds = repeats(10_u64);
    for seed in 1..=seeds {
        let mut lab = Lab::new(seed, bad_link());
        let (one, _) = (lab.client(ms(200)), lab.client(ms(300)));
        lab.run_until(ms(60_000));
        let node = lab.client_at(one);
        let warm = node.pictures.len() / 20;
        let seen = judge(&lab, &node.pictures[warm..]);
        worst = worst.max(seen.worst);
        between += seen.between;
        beyond += seen.beyond + seen.frozen;
        assert!(node.pictures.windows(2).all(|pair| pair[0].render <= pair[1].render), "backward");
        let now = lab.world.local_now(one);
        let render = node.client.render_frame().unwrap().since(Frame::ZERO);
        behind = behind.max((lab.server_time_at(one, now) - render) * FRAME.as_secs_f64() * 1e3);
    }
    let part = 100.0 * beyond as f64 / (between + beyond) as f64;
    println!("between two snapshots off by at most {worst:.3} units, in {between} pictures");
    println!(
        "{beyond} pictures, {part:.2} %, were beyond the newest snapshot; {behind:.1} ms behind the server"
    );
    assert!(between > seeds as usize * 3_000 && worst < 1.0, "{worst} units");
    assert!(behind < 115.0 + 150.0, "{behind} ms behind");
}

#[test]
fn render_time_lags_by_one_way_and_at_most_150_ms_all_the_time() {
    let mut lab = Lab::new(4, bad_link());
    let (one, _) = (lab.client(ms(200)), lab.client(ms(300)));
    let mut worst: f64 = 0.0;
    for second in 3..40 {
        lab.run_until(ms(second * 1_000));
        let now = lab.world.local_now(one);
        let render = lab.client_at(one).client.render_frame().unwrap().since(Frame::ZERO);
        // The render time is that of the last call, up to a frame ago.
        worst = worst.max((lab.server_time_at(one, now) - render - 1.0) * FRAME.as_secs_f64() * 1e3);
    }
    println!("at most {worst:.1} ms behind the server, of which one way is 115 on average");
    assert!(worst < 265.0);
}

#[test]
fn outage_freezes_the_others_and_the_delay_stays_bounded() {
    for_wires!(|wire| {
        let mut lab = Lab::speaking(wire, 5, LinkConfig::new(ms(30)));
        let (one, _) = (lab.client(ms(200)), lab.client(ms(300)));
        lab.world.network_mut().cut(0, one, ms(5_000), ms(6_500));
        lab.run_until(ms(6_400));
        let frozen: Vec<Picture> = lab.client_at(one).pictures.iter().rev().take(30).copied().collect();
        assert!(frozen.iter().all(|picture| picture.drawing == Drawing::Frozen), "{:?}", frozen[0]);
        assert!(frozen.windows(2).all(|pair| pair[0].body == pair[1].body), "what is frozen moves");
        lab.run_until(ms(10_000));
        let last = lab.client_at(one).pictures.last().unwrap();
        assert_eq!(last.drawing, Drawing::Interpolated);
        assert!(lab.client_at(one).client.stats().delay <= ms(250));
    });
}

#[test]
fn much_jitter_raises_the_delay_and_calm_lowers_it_again() {
    let calm = LinkConfig::new(ms(30));
    let mut lab = Lab::new(6, calm);
    let (one, _) = (lab.client(ms(200)), lab.client(ms(300)));
    lab.run_until(ms(10_000));
    let delay = |lab: &Lab| lab.client_at(one).client.stats().delay;
    assert!((ms(75)..ms(80)).contains(&delay(&lab)), "{:?}", delay(&lab));
    let jittery = LinkConfig { jitter: ms(120), loss: Chance::percent(2), ..calm };
    lab.world.network_mut().set_links(0, one, jittery);
    lab.run_until(ms(20_000));
    assert!((ms(140)..=ms(250)).contains(&delay(&lab)), "{:?}", delay(&lab));
    lab.world.network_mut().set_links(0, one, calm);
    lab.run_until(ms(40_000));
    assert!((ms(75)..ms(80)).contains(&delay(&lab)), "{:?}", delay(&lab));
    let renders: Vec<f64> = lab.client_at(one).pictures.iter().map(|picture| picture.render).collect();
    assert!(renders.windows(2).all(|pair| pair[0] <= pair[1]), "render time went backward");
}
