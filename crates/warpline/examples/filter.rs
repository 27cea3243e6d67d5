//! What a database does with a condition: it becomes code for many lanes, and rows are filtered by it. (The condition is
//! C that runs: it must come from somebody who may run code.)
//!
//!     cargo run --release -p warpline --example filter -- 'price * amount > 900 && amount < 30'

use warpline::jit::{Kernel, Language};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // The program is its own compiler process.
    warpline::llvm::worker::serve_if_asked();
    let condition = std::env::args().nth(1).unwrap_or("price * amount > 900 && amount < 30".to_owned());

    let source = format!(
        "int filter(int n, const float prices[n], const int amounts[n], int rows[n]) {{
             int found = 0;
             for (int i = 0; i < n; i++) {{
                 float price = prices[i];
                 int amount = amounts[i];
                 if ({condition}) rows[found++] = i;
             }}
             return found;
         }}"
    );
    let filter = Kernel::from_source(Language::C, &source)?;
    println!("{}", filter.signature());

    let prices: Vec<f32> = (0..1000).map(|i| (i % 97) as f32).collect();
    let amounts: Vec<i32> = (0..1000).map(|i| i % 41).collect();
    let mut rows = vec![0; 1000];
    let found: i32 = filter.compute((1000, &prices, &amounts, &mut rows))?;
    println!("{found} rows, the first of them {}", rows[0]);

    // What does not fit is an error, and nothing is called.
    let wrong = filter.compute::<i32>((1001, &prices, &amounts, &mut rows)).unwrap_err();
    println!("{wrong}");
    Ok(())
}
