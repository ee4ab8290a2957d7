//! Damages PDF files and reads them natively: `mutate COUNT FILE…` names each panic and each slow read.
#![allow(clippy::print_stdout, clippy::expect_used, reason = "a program for developers")]

use std::time::Instant;

#[path = "../tests/support/damage.rs"]
mod damage;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let count: usize =
        arguments.next().and_then(|count| count.parse().ok()).expect("COUNT is a number");
    let files: Vec<Vec<u8>> =
        arguments.map(|file| std::fs::read(file).expect("the file can be read")).collect();
    let mut numbers = damage::Numbers::new(0x5EED_0000_1234_5678);
    let (mut documents, mut errors, mut panics, mut slowest) = (0, 0, 0, 0.0_f64);
    for round in 0..count {
        let Some(file) = files.get(round % files.len()) else { return };
        let donor = files.get(numbers.below(files.len()));
        let mut bytes = file.clone();
        damage::damage(&mut bytes, donor.map_or(&[], Vec::as_slice), &mut numbers);
        let begin = Instant::now();
        match std::panic::catch_unwind(|| {
            carrel_pdf::read(&bytes, "{}").map(|read| read.to_json(0))
        }) {
            Ok(Ok(_)) => documents += 1,
            Ok(Err(_)) => errors += 1,
            Err(_) => {
                panics += 1;
                let name = format!("panic-{round}.pdf");
                std::fs::write(&name, &bytes).expect("the folder can be written");
                println!("panic: {name}");
            }
        }
        let took = begin.elapsed().as_secs_f64();
        if took > slowest {
            slowest = took;
        }
        if took > 2.0 {
            let name = format!("slow-{round}.pdf");
            std::fs::write(&name, &bytes).expect("the folder can be written");
            println!("slow: {name} {took:.1} s");
        }
    }
    println!(
        "{count} files: {documents} documents, {errors} errors, {panics} panics, slowest {slowest:.2} s"
    );
}
